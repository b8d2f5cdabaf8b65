"""Which tier is asked for: the table of the documentation, row by row."""

import pytest

from zurelay.catalogue.tiers import name_of
from zurelay.chat.effort import SCALE
from zurelay.plan.auto.features import MANY_TURNS, Features
from zurelay.plan.auto.tiers import BOUNDS, signs, wanted
from zurelay.plan.latency import LARGE

ALL = Features(
    "agent",
    LARGE,
    turns=MANY_TURNS,
    code=True,
    tools=True,
    media=("image",),
    script="other",
)


def test_every_level_of_effort_has_a_row() -> None:
    assert set(BOUNDS) == {None, *SCALE}


def test_every_sign_is_told_by_its_own_feature() -> None:
    assert signs(Features("chat", 10)) == ()
    assert len(signs(ALL)) == 7
    assert signs(Features("code", 10, code=True)) == ("code",)
    assert signs(Features("chat", 10, tools=True)) == ("tools",)
    assert signs(Features("agent", 10, tools=True, turns=4)) == ("tools", "an agent's loop")
    assert signs(Features("extraction", 10, schema=True)) == ()


@pytest.mark.parametrize(
    ("effort", "by_signs"),
    [
        ("none", ("light", "standard", "standard", "standard")),
        ("minimal", ("light", "standard", "standard", "standard")),
        ("low", ("light", "standard", "standard", "standard")),
        (None, ("light", "standard", "standard", "strong")),
        ("medium", ("standard", "strong", "strong", "strong")),
        ("high", ("strong", "strong", "strong", "strong")),
        ("xhigh", ("frontier",) * 4),
        ("max", ("frontier",) * 4),
    ],
)
def test_effort_sets_the_tier_and_signs_raise_it(
    effort: str | None, by_signs: tuple[str, ...]
) -> None:
    seen = Features("chat", 10, effort=effort)
    found = ("a", "b", "c", "d", "e")
    assert tuple(name_of(wanted(seen, found[:count])) for count in range(4)) == by_signs
    assert name_of(wanted(seen, found)) == by_signs[-1]
