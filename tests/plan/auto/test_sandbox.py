"""What stands in where nothing is configured."""

import pytest

from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.sandbox import STAND_INS, in_order


@pytest.mark.parametrize(
    ("features", "first"),
    [
        (Features("chat", 1), "echo"),
        (Features("chat", 1, effort="none"), "echo"),
        (Features("chat", 1, effort="high"), "reasoning"),
        (Features("chat", 1, tools=True, effort="high"), "tools"),
        (Features("extraction", 1, schema=True), "json"),
    ],
)
def test_the_first_shows_what_was_asked_for(features: Features, first: str) -> None:
    order = in_order(features)
    assert order[0] == f"sandbox/{first}"
    assert sorted(order) == sorted(STAND_INS)


def test_all_of_them_are_there() -> None:
    assert {model.id for model in SANDBOX_MODELS} >= set(STAND_INS)
