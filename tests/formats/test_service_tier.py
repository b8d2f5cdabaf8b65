import pytest

from zurelay.chat.usage import STANDARD
from zurelay.formats.service_tier import used


@pytest.mark.parametrize(
    ("word", "tier"),
    [
        ("default", STANDARD),
        ("standard", STANDARD),
        ("on_demand", STANDARD),
        ("STANDARD", STANDARD),
        ("auto", STANDARD),
        (None, None),
        (7, None),
        ("", None),
        ("ON_DEMAND_PRIORITY", "priority"),
        ("priority", "priority"),
        ("FLEX", "flex"),
        ("x" * 100, "x" * 40),
    ],
)
def test_a_tier_is_named_in_one_word_whoever_told_it(word: object, tier: str | None) -> None:
    assert used(word) == tier
