"""`[auto]` as it is read."""

import pytest

from zurelay.access.auto import AutoRules, Ceiling, Weights
from zurelay.config.auto import AutoSettings
from zurelay.config.parse import parse


def read(table: object) -> tuple[AutoSettings, list[str]]:
    parsed = parse({"auto": table}, "f.toml")
    return parsed.tables["auto"], [f"{fault.key}: {fault.message}" for fault in parsed.faults]


def test_without_it_every_model_with_a_price_may_be_chosen() -> None:
    assert AutoSettings().rules() == AutoRules()


def test_all_of_it_becomes_rules() -> None:
    found, faults = read(
        {
            "allow": ["gpt-*", "house-model"],
            "exclude": ["*-pro"],
            "tiers": {"house-*": "strong", "gpt-*": "light"},
            "ceiling": {"input": "5.00", "output": 25},
            "weights": {"speed": 0, "stay": 3},
        }
    )
    assert faults == []
    assert found.rules() == AutoRules(
        ("gpt-*", "house-model"),
        ("*-pro",),
        (("house-*", 3), ("gpt-*", 1)),
        Ceiling(5 * 10**12, 25 * 10**12),
        Weights(speed=0, stay=3),
    )


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"allowed": []}, "auto.allowed"),
        ({"tiers": {"a": "huge"}}, "auto.tiers.a"),
        ({"tiers": []}, "auto.tiers"),
        ({"ceiling": {"input": 5.5}}, "auto.ceiling.input"),
        ({"ceiling": {"inputs": "5"}}, 'Did you mean "input"?'),
        ({"weights": {"cost": -1}}, "auto.weights.cost"),
        ({"weights": {"price": 1}}, "auto.weights.price"),
        ({"allow": ["a", "a"]}, "twice"),
    ],
)
def test_a_fault_names_its_place(table: object, told: str) -> None:
    _, faults = read(table)
    assert len(faults) == 1
    assert told in faults[0]
