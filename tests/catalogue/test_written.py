from zurelay.catalogue.load import standard
from zurelay.catalogue.model import Hours, Price
from zurelay.catalogue.price import parse_price
from zurelay.catalogue.written import price_table, utc_text

WHOLE = {
    "input": "2.00",
    "cached_input": "0.20",
    "output": "10.00",
    "per_request": "0.001",
    "per_call": {"web_search": "0.01"},
    "tiers": {"flex": "0.5", "priority": "2"},
    "above": [{"prompt_tokens": 272000, "input": "4.00", "output": "15.00"}],
    "hours": [
        {
            "utc": ["Sat-Sun 00:00-24:00", "Mon 01:30-04:00"],
            "input": "1.50",
            "output": "8.00",
            "above": [{"prompt_tokens": 1000, "input": "3.00", "output": "9.00"}],
        }
    ],
}


def test_a_price_is_written_as_it_was_read() -> None:
    assert price_table(parse_price(WHOLE)) == WHOLE
    assert price_table(parse_price("free")) == {"input": "0.00", "output": "0.00"}


def known(price: Price) -> object:
    """All of a price that is written."""
    return (
        price.classes,
        price.above,
        price.per_request,
        price.per_call,
        {name: (tier.classes, tier.above) for name, tier in price.tiers.items()},
        [(when, then.classes, then.above) for when, then in price.hours],
    )


def test_every_price_of_the_catalogue_comes_back() -> None:
    seen = 0
    for models in standard().by_vendor.values():
        for model in models:
            for price in (*model.later, *([model.price] if model.price else [])):
                assert known(parse_price(price_table(price))) == known(price), model.id
                seen += 1
    assert seen > 100


def test_days_that_do_not_follow_each_other_are_stretches_of_their_own() -> None:
    found = utc_text([Hours(frozenset({1, 3, 4, 7}), 0, 1440)])
    assert found == ["Mon 00:00-24:00", "Wed-Thu 00:00-24:00", "Sun 00:00-24:00"]
