"""Expected costs, worked out by hand."""

import pytest

from tests.plan.auto.made import LEVELS, a_model, usd
from zurelay.catalogue.model import Reasoning
from zurelay.plan.auto.cost import ANSWERS, THINKING, expected, level, rates
from zurelay.plan.auto.features import Features

CHAT = Features("chat", 1000)


def nano(usd_amount: float) -> object:
    return pytest.approx(usd_amount * 1e9)


def test_prompt_answer_and_thinking_are_each_paid() -> None:
    model = a_model("m", usd(2, 10))
    of = rates(model, model.price or usd(0, 0), 1000, None)
    output = ANSWERS["chat"] + THINKING["medium"]
    assert expected(of, CHAT) == nano(0.002 + output * 10 / 1e6)


def test_the_level_is_the_one_that_would_be_in_force() -> None:
    assert level(a_model("m", reasoning=LEVELS), "max") == "high"
    assert level(a_model("m", reasoning=LEVELS), None) == "medium"
    assert level(a_model("m", reasoning=Reasoning(())), "high") == "none"
    assert level(a_model("m", reasoning=Reasoning(("low", "high"))), None) == "medium"
    assert level(a_model("m", reasoning=None), "high") == "high"
    assert level(a_model("m", reasoning=None), None) == "none"


def test_an_answer_is_no_longer_than_asked_or_than_can_be() -> None:
    model = a_model("m", usd(0, 1), reasoning=Reasoning(()), max_output=50)
    of = rates(model, model.price or usd(0, 0), 10, None)
    assert expected(of, CHAT) == nano(50 / 1e6)
    assert expected(of, Features("chat", 10, output=20)) == nano(20 / 1e6)
    assert expected(of, Features("chat", 10, output=20, choices=3)) == nano(60 / 1e6)


def test_a_cached_prompt_is_cheaper_only_where_that_has_a_price() -> None:
    plain = usd(10, 0)
    cheap = usd(10, 0)
    cheap = type(cheap)({**cheap.classes, "cached_input": 10**12})
    dear, less = (rates(a_model("m", p), p, 1000, None) for p in (plain, cheap))
    assert expected(dear, CHAT, cached=True) == expected(dear, CHAT)
    assert expected(less, CHAT, cached=True) == nano((0.2 * 10 + 0.8 * 1) / 1000)


def test_fees_steps_and_mark_up_count() -> None:
    price = usd(1, 0, per_request=5_000, above=((1000, usd(3, 0)),))
    model = a_model("m", price, markup=1_500_000, reasoning=Reasoning(()))
    assert expected(rates(model, price, 800, None), Features("chat", 800)) == nano(
        1.5 * (800 / 1e6 + 0.000005)
    )
    # a quarter more than the estimate may be over the step
    assert expected(rates(model, price, 801, None), Features("chat", 801)) == nano(
        1.5 * (3 * 801 / 1e6 + 0.000005)
    )
