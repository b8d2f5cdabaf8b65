"""The table `[auto]` and its structured values: patterns, tiers, weights, the price ceiling.

Builds the rules of the smart choice from TOML tables. Knows neither models nor requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zurelay.access.auto import AutoRules, Ceiling, Weights
from zurelay.catalogue.price import CatalogueError, per_token
from zurelay.catalogue.tiers import TIERS, number_of
from zurelay.config import values as v
from zurelay.config.schema import setting

PATTERNS = v.listing(
    v.text("gpt-6-*", most=200, empty=False),
    '"gpt-6-*"',
)


def _tiers(value: object) -> tuple[tuple[str, int], ...]:
    gather = v.Gather()
    example = '{ "house-*" = "strong" }'
    word = v.choice(*TIERS)
    found = {
        str(pattern): gather.read(str(pattern), word, item)
        for pattern, item in v.table(value, example).items()
    }
    gather.close()
    return tuple((pattern, number_of(word)) for pattern, word in found.items())


TIER_TABLE = v.Type("table of patterns and tiers", _tiers)

_WEIGHTS = {
    "cost": v.number(0, 10, 1),
    "speed": v.number(0, 10, 1),
    "success": v.number(0, 10, 1),
    "stay": v.number(0, 1000, 2),
}


def _weights(value: object) -> Weights:
    found: dict[str, float] = _parts(v.table(value, "{ cost = 1, speed = 0 }"), _WEIGHTS)
    return Weights(**found)


WEIGHTS = v.Type("table of cost, speed, success and stay", _weights)


def _amount(value: object) -> int:
    try:
        return per_token(value)
    except CatalogueError as error:
        raise v.wrong(error.problem) from None


_AMOUNT = v.Type("USD per million tokens", _amount)
_SIDES = {"input": _AMOUNT, "output": _AMOUNT}


def _ceiling(value: object) -> Ceiling:
    example = '{ input = "5.00", output = "25.00" }'
    found: dict[str, int] = _parts(v.table(value, example), _SIDES)
    return Ceiling(**found)


CEILING = v.Type("table of input and output", _ceiling)


def _parts(table: Mapping[str, object], known: Mapping[str, v.Type]) -> dict[str, Any]:
    gather = v.Gather()
    found: dict[str, Any] = {}
    for name, item in table.items():
        if name in known:
            found[name] = gather.read(name, known[name], item)
        else:
            gather.fault(name, f"unknown key.{v.hint(name, known)}")
    gather.close()
    return found


@dataclass(frozen=True, slots=True)
class AutoSettings:
    """What the smart choice may choose, and by what. A key's own terms stand before these."""

    allow: tuple[str, ...] = setting(
        PATTERNS,
        (),
        "Patterns of public ids it chooses among, `*` for any text; an id written whole is chosen"
        " even without a known price.",
        shown="every model with a known price",
    )
    exclude: tuple[str, ...] = setting(
        PATTERNS, (), "Patterns of those it never chooses; they win over `allow`."
    )
    tiers: tuple[tuple[str, int], ...] | None = setting(
        TIER_TABLE,
        None,
        'Your word on quality: `{ "house-*" = "strong" }`; light, standard, strong or frontier, the'
        " first pattern that fits.",
        shown="the tiers stated in the catalogue",
    )
    ceiling: Ceiling | None = setting(  # noqa: RUF009 - a field
        CEILING,
        None,
        'Dearer models are never chosen: `{ input = "5.00", output = "25.00" }` in USD per million'
        " tokens as text, either alone.",
        shown="no bound",
    )
    weights: Weights | None = setting(  # noqa: RUF009 - a field
        WEIGHTS,
        None,
        "What counts: `{ cost = 1, speed = 1, success = 1, stay = 2 }`, exponents of expected cost,"
        " first-token time and failures; a conversation stays with its model while that costs at"
        " most `stay` times the least.",
        shown="as written here",
    )

    def rules(self) -> AutoRules:
        """The rules for all callers."""
        return AutoRules(
            self.allow,
            self.exclude,
            self.tiers or (),
            self.ceiling or Ceiling(),
            self.weights or Weights(),
        )
