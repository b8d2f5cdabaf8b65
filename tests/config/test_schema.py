from dataclasses import dataclass

from zurelay.config import values as v
from zurelay.config.schema import REQUIRED, Setting, setting, settings_of

NUMBER = v.whole(0, 9, 1)
HIDDEN = v.secret("$KEY")


@dataclass(frozen=True, slots=True)
class Table:
    """A table."""

    one: int = setting(NUMBER, REQUIRED, "One.", restart=True)
    two: int = setting(NUMBER, 2, "Two.", shown="two")
    key: str = setting(HIDDEN, "", "A secret.")


def test_a_table_tells_its_settings_in_order() -> None:
    assert settings_of(Table) == (
        Setting("one", NUMBER, "One.", REQUIRED, "", restart=True),
        Setting("two", NUMBER, "Two.", 2, "two", restart=False),
        Setting("key", HIDDEN, "A secret.", "", "", restart=False),
    )
    assert Table(1).two == 2


def test_a_secret_is_not_shown_with_the_rest() -> None:
    assert "s3cret" not in repr(Table(1, key="s3cret"))
