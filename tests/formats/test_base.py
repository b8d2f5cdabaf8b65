"""What follows from the model that an attempt writes for."""

import pytest

from zurelay.chat.profile import Profile
from zurelay.formats.base import Target


@pytest.mark.parametrize(
    ("effort", "default", "thinks"),
    [
        ("none", None, False),
        ("none", "high", False),
        (None, "none", False),
        ("low", "none", True),
        (None, "high", True),
        (None, None, True),
    ],
)
def test_a_model_thinks_unless_it_surely_does_not(
    effort: str | None, default: str | None, thinks: bool
) -> None:
    target = Target("p", "u", Profile(), effort=effort, effort_default=default)
    assert target.thinks is thinks
