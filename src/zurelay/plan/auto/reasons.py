"""The choice in words: why a model is first, and why none is left. Names only what callers know.

Text work; decides nothing.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from zurelay.catalogue.money import format_usd
from zurelay.catalogue.tiers import name_of
from zurelay.chat.problems import (
    Problem,
    context_overflow,
    invalid_value,
    of_attempts,
    unsupported_content,
)
from zurelay.formats.base import Ability
from zurelay.plan.abilities import named
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.pool import STOPPED, Barred
from zurelay.plan.auto.ranking import Ranked, Ranking
from zurelay.plan.auto.shapes import SMALL

_MOST_NAMED: Final = 5
"""Models named for one reason; the rest are counted."""


def features_view(features: Features, found: Iterable[str]) -> dict[str, Any]:
    """What was seen of the request, for the log."""
    view: dict[str, Any] = {"kind": features.kind, "tokens": features.tokens}
    if features.effort is not None:
        view["effort"] = features.effort
    if features.output is not None:
        view["max_output"] = features.output
    view["turns"] = features.turns
    signs = list(found)
    if signs:
        view["signs"] = signs
    for name in ("schema", "forced"):
        if getattr(features, name):
            view[name] = True
    if features.media:
        view["media"] = list(features.media)
    return view


def sentence(ranking: Ranking, tier: int, features: Features, found: tuple[str, ...]) -> str:
    """Why the first model is first."""
    first = ranking.models[0]
    model, wanted = first.row.entry.id, name_of(tier)
    if ranking.why == "stands in":
        return f"Only sandbox models are configured; {model} shows what was asked for."
    asked = f"tier {wanted}{_because(features, found)}"
    if first.row.shortfall:
        asked += f", of which no model is left; {model} is {_tier_of(first)}"
    told = f"{asked}: {model}{_costs(first)}"
    many = f"of {ranking.met} that will do" if ranking.met > 1 else "as the only one that will do"
    match ranking.why:
        case "stays":
            end = "stays, having the conversation in its prompt cache"
        case "corrected":
            end = f"comes first {many} by cost, first-token time and success"
        case _:
            end = f"is the cheapest {many}" if ranking.met > 1 else f"comes first {many}"
    if first.row.lacks:
        end += ", though it cannot do all that was asked itself"
    return f"{told[:1].upper()}{told[1:]} {end}."


def _because(features: Features, found: tuple[str, ...]) -> str:
    causes = [] if features.effort is None else [f"effort {features.effort}"]
    causes += found
    return f" for {', '.join(causes)}" if causes else ""


def _costs(first: Ranked) -> str:
    cost = whole(first.cost)
    return " (no known price)" if cost is None else f" (expected ${format_usd(cost)})"


def _tier_of(first: Ranked) -> str:
    return f"of tier {name_of(first.row.entry.tier)}" if first.row.entry.tier else "unrated"


def whole(cost: float) -> int | None:
    """An expected cost in whole nano-dollars; None where it is not known."""
    return None if cost == float("inf") else round(cost)


def nothing_left(
    name: str, barred: Iterable[Barred], features: Features, needs: Mapping[Ability, str]
) -> Problem:
    """The answer where no model is left: what ruled each one out."""
    by_reason: dict[str, list[str]] = {}
    for one in barred:
        by_reason.setdefault(one.why, []).append(one.model)
    if not by_reason:
        told = f"'{name}' has nothing to choose from: this key may use no model that answers."
        return invalid_value("model", told)
    if by_reason.keys() == {STOPPED}:
        return of_attempts(())
    told = "; ".join(f"{_reason(why, features)}: {_list(by_reason[why])}" for why in by_reason)
    message = f"'{name}' has no model left for this request. {told[:1].upper()}{told[1:]}."
    lost = next((ability for ability in needs if _takes_none(by_reason, ability)), None)
    if lost is not None:
        return unsupported_content(needs[lost], message)
    if SMALL in by_reason:
        return context_overflow(message)
    return invalid_value("model", message)


def _takes_none(by_reason: Mapping[str, list[str]], ability: Ability) -> bool:
    name = named(ability)
    return bool(name) and f"takes no {name}" in by_reason


def _reason(why: str, features: Features) -> str:
    if why != SMALL:
        return why
    answer = f" and an answer of {features.output}" if features.output else ""
    return f"{why} for about {features.tokens} tokens{answer}"


def _list(models: list[str]) -> str:
    names = list(dict.fromkeys(models))
    shown = ", ".join(names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"
