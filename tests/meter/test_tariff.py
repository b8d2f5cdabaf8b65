from fractions import Fraction

import msgspec
from hypothesis import given

from tests.meter.test_charge import GPT_6, MARKUPS, PRICES, USAGES
from zurelay.catalogue.model import FREE, Price
from zurelay.catalogue.money import NO_MARKUP, parse_factor
from zurelay.catalogue.price import parse_price
from zurelay.chat.usage import Usage
from zurelay.meter.charge import charge
from zurelay.meter.tariff import CLASSES, EMPTY_ANSWER, NOT_CHARGED, Line, Tariff, lines


def billed(
    price: Price, usage: Usage, markup: int = NO_MARKUP, cost: int | None = None
) -> list[Line]:
    charged = charge(price, usage, markup)
    kept = msgspec.json.decode(msgspec.json.encode(charged.tariff), type=Tariff)
    return list(lines(usage, kept, charged.cost if cost is None else cost))


def test_a_bill_names_what_was_used_with_its_price_and_cost() -> None:
    price = parse_price(
        {"input": "2", "cached_input": "0.2", "output": "10", "per_request": "0.001",
         "per_call": {"web_search": "0.01"}}
    )  # fmt: skip
    usage = Usage(input=1000, cached_input=800, output=50, web_searches=3)
    assert billed(price, usage, parse_factor("1.5")) == [
        Line("input", 1000, "3.00", "0.003"),
        Line("cached_input", 800, "0.30", "0.00024"),
        Line("output", 50, "15.00", "0.00075"),
        Line("request", 1, "0.0015", "0.0015"),
        Line("web_search", 3, "0.015", "0.045"),
    ]


def test_the_step_and_the_tier_that_were_charged_are_in_it() -> None:
    long = billed(GPT_6, Usage(input=300_000, output=10))
    assert [one.price for one in long] == ["4.00", "15.00"]
    tiered = parse_price({"input": "2", "output": "10", "tiers": {"flex": "0.5"}})
    assert billed(tiered, Usage(input=1, tier="flex"))[0].price == "1.00"
    assert billed(tiered, Usage(input=1, tier="priority"))[0].price == "2.00"


def test_counts_stand_in_the_order_of_the_classes() -> None:
    for place, name in enumerate(CLASSES):
        counts = [0] * len(CLASSES)
        counts[place] = 5
        assert msgspec.structs.replace(Usage(), **{name: 5}).classes == tuple(counts), name


def test_what_is_free_costs_nothing_and_says_so() -> None:
    assert billed(FREE, Usage(input=7)) == [Line("input", 7, "0.00", "0.00")]


def test_a_class_without_a_price_of_its_own_has_the_one_it_was_charged_at() -> None:
    price = parse_price({"input": "2", "output": "10"})
    assert billed(price, Usage(cached_input=5, audio_output=5)) == [
        Line("cached_input", 5, "2.00", "0.00001"),
        Line("audio_output", 5, "10.00", "0.00005"),
    ]


def test_what_was_charged_beside_the_answer_or_not_at_all_has_a_line() -> None:
    price = parse_price({"input": "2", "output": "10"})
    usage = Usage(input=1000)
    assert billed(price, usage, cost=3_000_000)[-1] == Line(EMPTY_ANSWER, 1, None, "0.001")
    assert billed(price, usage, cost=0)[-1] == Line(NOT_CHARGED, 1, None, "-0.002")


def test_an_entry_without_prices_still_tells_what_was_used() -> None:
    usage = Usage(input=3, reasoning=1, output=2)
    assert list(lines(usage, None, 99)) == [
        Line("input", 3, None, None),
        Line("output", 2, None, None),
    ]


def test_a_price_beyond_what_people_write_is_read_back() -> None:
    dear = parse_price(
        {"input": "999999999.999999999999", "output": "1", "tiers": {"fast": "1000"}}
    )
    found = billed(dear, Usage(input=1, tier="fast"), parse_factor("999"))
    assert found == [Line("input", 1, "998999999999999.999999001", "998999999.999999999999001")]


@given(PRICES, USAGES, MARKUPS)
def test_a_bill_adds_up_to_the_charge(price: Price, usage: Usage, markup: int) -> None:
    found = billed(price, usage, markup)
    total = sum((Fraction(one.cost or "") for one in found), Fraction())
    assert round(total * 10**9) == charge(price, usage, markup).cost
    assert all(one.price is not None for one in found)  # so there is no line that evens it out
    assert len({one.of for one in found}) == len(found)
