import pytest

from tests.office.people import refusal
from zurelay.office.passwords import hashed, verified


def test_a_password_is_kept_as_argon2id_with_its_parameters() -> None:
    kept = hashed("correct horse")
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert kept != hashed("correct horse")
    assert verified(kept, "correct horse")
    assert not verified(kept, "correct horsE")


@pytest.mark.parametrize("text", ["", "short", "x" * 201])
def test_what_is_too_short_or_too_long_is_none(text: str) -> None:
    assert refusal(hashed, text, "new").param == "new"


@pytest.mark.parametrize("kept", [None, "", "nothing that Argon2 wrote"])
def test_nobody_gets_in_where_none_is_kept(kept: str | None) -> None:
    assert not verified(kept, "")
    assert not verified(kept, "correct horse")
    assert not verified(kept, "nobody's password")
