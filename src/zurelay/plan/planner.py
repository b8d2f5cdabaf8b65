"""From a request to the routes that may answer it, in the order to try them.

A pure function: which key may use what, health, affinity, time and chance come in as arguments.
It does not know how a route is called or how long anything takes.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from zurelay.access.keys import Key
from zurelay.catalogue.model import Model
from zurelay.chat import problems
from zurelay.chat.effort import HIGH, SCALE, clamp
from zurelay.chat.estimate import prompt_tokens
from zurelay.chat.nearest import nearest
from zurelay.chat.problems import Refused
from zurelay.formats.base import Inbound
from zurelay.meter.record import AutoChoice
from zurelay.plan.abilities import gives, lacking, serves, unsupported, wrong_mode
from zurelay.plan.affinity import Affinity, conversation
from zurelay.plan.auto.choose import Caller, Choice, choose
from zurelay.plan.auto.pool import Named
from zurelay.plan.health import Health
from zurelay.plan.latency import LARGE
from zurelay.plan.order import Order
from zurelay.plan.route import Auto, Route, RoutingTable, ServedModel

_WINDOW_SLACK = 1.2
"""How far an estimate must exceed the window before a model is left out."""

_EFFORT_FIELD = {
    "openai_chat": "reasoning_effort",
    "openai_responses": "reasoning.effort",
    "anthropic": "output_config.effort",
}


class Candidate(Struct, frozen=True):
    """One route that may answer.

    Attributes:
        route: how the model is reached.
        served: the model.
        model: what the catalogue knows of the model at this provider: its price and quirks there.
        public_model: the id callers know.
        upstream_model: the provider's own name, with the parameters of a sandbox id.
        effort: the level to send; None sends nothing.
        effort_shown: the level in force; None if unknown.
        high_effort: that level is high, xhigh or max.
        listed: the caller named the model in `models`.
        ranked: the gateway chose the model: it may take what is too long for another.
        only: it is its model's only route: its own failures never cut it off.
        forced: every route is cut off; this one is the least bad and tried all the same.
        hedge_after: seconds without a token after which another route of the model may be started
            beside it; None for never.
        cap: the token limit to send where the caller set none; None to send none.
    """

    route: Route
    served: ServedModel
    model: Model
    public_model: str
    upstream_model: str
    effort: str | None = None
    effort_shown: str | None = None
    high_effort: bool = False
    listed: bool = False
    only: bool = False
    forced: bool = False
    hedge_after: float | None = None
    cap: int | None = None
    ranked: bool = False


class Plan(Struct, frozen=True):
    """Where a request may go.

    Attributes:
        asked: the public id asked for, without parameters.
        candidates: in the order to try them; never empty.
        input_estimate: tokens of the prompt.
        conversation: its name, by which a route is remembered; None where there is no choice.
        auto: how the models were chosen, where that was left to the gateway.
    """

    asked: str
    candidates: tuple[Candidate, ...]
    input_estimate: int
    conversation: bytes | None = None
    auto: AutoChoice | None = None


def make_plan(
    table: RoutingTable,
    inbound: Inbound,
    *,
    may_use: Callable[[str], bool],
    health: Health,
    affinity: Affinity,
    account: str,
    now: float,
    draw: Callable[[], float],
    hedge: bool = False,
    key: Key | None = None,
    wall: Callable[[], float] = float,
) -> Plan:
    """The plan of one request.

    Args:
        table: everything that is served.
        inbound: the request.
        may_use: whether the key may use a model id.
        health: what is known of the routes.
        affinity: which route served which conversation.
        account: whose request it is.
        now: the steady clock that `health` and `affinity` are told.
        draw: uniform numbers from 0 to 1, for weights.
        hedge: whether second routes may be started beside slow ones.
        key: whose request it is, for what differs by key in the smart choice.
        wall: Unix time, which decides prices there; not asked otherwise.

    Raises:
        Refused: the model is unknown or not allowed, the effort no level, or no route can take
            the request.
    """
    estimate = prompt_tokens(inbound.text_length, inbound.media_count)
    plain = inbound.alternatives is None and not inbound.needs and inbound.mode == "chat"
    if plain:
        known = table.made.get((inbound.model, inbound.effort))
        if known is not None and _still(known, may_use, health, estimate, now):
            return Plan(known.public_model, (known,), estimate)
    auto = table.auto
    if auto is not None and inbound.model == auto.id:
        smart = choice_of(
            table,
            auto,
            inbound,
            Caller(account, may_use, key),
            health=health,
            affinity=affinity,
            now=now,
            at=wall(),
        )
        return _chosen(smart, auto, inbound, health, now, draw, hedge=hedge)
    choices = _models(table, inbound, may_use)
    _check_effort(inbound, choices[0])
    several = len(choices) > 1 or len(choices[0].served.routes) > 1
    name = conversation(account, inbound) if several else None
    warm = affinity.find(name, now)
    order = Order(health, now, draw, warm, inbound.needs)
    candidates: list[Candidate] = []
    for choice in choices:
        routes = [
            route
            for route in choice.served.routes
            if serves(route, inbound.mode) and not lacking(choice.served, route, inbound.needs)
        ]
        candidates += [
            _candidate(choice, route, inbound.effort) for route in order.sort(choice.served, routes)
        ]
    if not candidates and not any(choice.served.routes for choice in choices):
        raise Refused(problems.of_attempts(()))  # all of them were stopped
    if not candidates and inbound.mode == "embeddings":
        raise Refused(wrong_mode(choices[0].served.model, inbound.mode))
    if not candidates:
        raise Refused(unsupported([c.served for c in choices], inbound.needs))
    candidates = _within_window(candidates, estimate)
    if plain and _nothing_to_choose(table.models.get(inbound.model)):
        table.made[inbound.model, inbound.effort] = candidates[0]
    candidates = _force_one(candidates, health, now)
    if hedge:
        candidates[0] = _hedged(candidates, health, warm, estimate, now)
    return Plan(choices[0].served.model.id, tuple(candidates), estimate, name)


def choice_of(
    table: RoutingTable,
    auto: Auto,
    inbound: Inbound,
    caller: Caller,
    *,
    health: Health,
    affinity: Affinity,
    now: float,
    at: float,
) -> Choice:
    """What the gateway chooses for a request that leaves it the model; see `auto.choose.choose`.

    Raises:
        Refused: what is asked for is no answer, the effort no level, one of `models` unknown or
            not allowed, or no model is left.
    """
    if inbound.mode != "chat":
        told = f"'{auto.id}' chooses among models that answer: name one that makes embeddings."
        raise Refused(problems.invalid_value("model", told))
    if inbound.effort is not None and inbound.effort not in SCALE:
        raise Refused(_no_level(inbound.front, inbound.effort, SCALE))
    named = None
    if inbound.alternatives:
        found = _alternatives(table, inbound, caller.may_use)
        named = [Named(one.served, one.parameters) for one in found.values()]
    return choose(
        table, auto, inbound, named, caller, health=health, affinity=affinity, now=now, at=at
    )


def _chosen(
    choice: Choice,
    auto: Auto,
    inbound: Inbound,
    health: Health,
    now: float,
    draw: Callable[[], float],
    *,
    hedge: bool,
) -> Plan:
    """The plan for what was chosen: every route of the first model, then those of the next."""
    estimate = prompt_tokens(inbound.text_length, inbound.media_count)
    order = Order(health, now, draw, choice.warm, inbound.needs)
    listed = bool(inbound.alternatives)
    candidates = [
        _candidate(one, route, inbound.effort, ranked=True)
        for row in (choice.rows[:1] if inbound.alternatives == () else choice.rows)
        for one in (_Choice(row.entry.served, row.entry.parameters, listed),)
        for route in order.sort(row.entry.served, row.routes)
    ]
    candidates = _force_one(candidates, health, now)
    if hedge:
        candidates[0] = _hedged(candidates, health, choice.warm, estimate, now)
    return Plan(auto.id, tuple(candidates), estimate, choice.conversation, choice.record)


def _nothing_to_choose(served: ServedModel | None) -> bool:
    """Whether the model has one route and no fallbacks, whoever asks."""
    return served is not None and len(served.routes) == 1 and not served.fallbacks


def _still(
    known: Candidate,
    may_use: Callable[[str], bool],
    health: Health,
    estimate: int,
    now: float,
) -> bool:
    """Whether the one candidate an earlier request of this kind had is this one's whole plan."""
    return (
        estimate <= _window(known)
        and may_use(known.public_model)
        and health.may_try(known.route, now, only=known.only).go
    )


class _Choice(Struct, frozen=True):
    """A model that may answer, as it was asked for. `parameters` are those of a sandbox id."""

    served: ServedModel
    parameters: str = ""
    listed: bool = False


def _models(table: RoutingTable, inbound: Inbound, may_use: Callable[[str], bool]) -> list[_Choice]:
    """The model asked for, the caller's alternatives, then configured fallbacks; each once."""
    first = _find(table, inbound.model)
    if first is None:
        known = [model_id for model_id in table.models if may_use(model_id)]
        known += [table.auto.id] if table.auto is not None else []
        raise Refused(problems.model_not_found(inbound.model, nearest(inbound.model, known)))
    if not may_use(first.served.model.id):
        raise Refused(problems.model_not_allowed(inbound.model))
    if not gives(first.served.model, inbound.mode):
        raise Refused(wrong_mode(first.served.model, inbound.mode))
    choices = {inbound.model: first}
    for name, listed in _alternatives(table, inbound, may_use).items():
        choices.setdefault(name, listed)
    if inbound.alternatives != ():
        for name in first.served.fallbacks:
            choice = _find(table, name)
            if choice is None or not may_use(choice.served.model.id):
                continue
            if gives(choice.served.model, inbound.mode):
                choices.setdefault(name, choice)
    return list(choices.values())


def _alternatives(
    table: RoutingTable, inbound: Inbound, may_use: Callable[[str], bool]
) -> dict[str, _Choice]:
    """The models that a request names in `models`, in its order."""
    found: dict[str, _Choice] = {}
    for name in inbound.alternatives or ():
        choice = _find(table, name)
        if choice is None:
            raise Refused(_unknown_alternative(table, inbound, name, may_use))
        if not may_use(choice.served.model.id):
            raise Refused(problems.model_not_allowed(name, _alternative(inbound, name)))
        model = choice.served.model
        if not gives(model, inbound.mode):
            raise Refused(wrong_mode(model, inbound.mode, _alternative(inbound, name)))
        found[name] = replace(choice, listed=True)
    return found


def _find(table: RoutingTable, name: str) -> _Choice | None:
    served = table.find(name)
    if served is None:
        return None
    parameters = name[len(served.model.id) :] if served.model.vendor == "sandbox" else ""
    return _Choice(served, parameters)


def _unknown_alternative(
    table: RoutingTable, inbound: Inbound, name: str, may_use: Callable[[str], bool]
) -> problems.Problem:
    found = nearest(name, (model_id for model_id in table.models if may_use(model_id)))
    hint = f" Did you mean '{found}'?" if found else " See GET /v1/models for the list."
    return problems.invalid_value(
        _alternative(inbound, name), f"The model '{name}' does not exist.{hint}"
    )


def _alternative(inbound: Inbound, name: str) -> str:
    """The path of `name` in `models` as the caller wrote it, duplicates and all."""
    try:
        written = msgspec.json.decode(inbound.body["models"], type=list[str])
        return f"models[{written.index(name)}]"
    except (KeyError, ValueError):
        return f"models[{(inbound.alternatives or ()).index(name)}]"


def _check_effort(inbound: Inbound, choice: _Choice) -> None:
    if inbound.effort is None or inbound.effort in SCALE:
        return
    model = choice.served.model
    levels = (model.reasoning.levels if model.reasoning else ()) or SCALE
    raise Refused(_no_level(inbound.front, inbound.effort, levels))


def _no_level(front: str, word: str, levels: Sequence[str]) -> problems.Problem:
    return problems.invalid_value(
        _EFFORT_FIELD.get(front, "reasoning_effort"),
        f"'{word[:40]}' is no reasoning effort. Use one of: {', '.join(levels)}.",
    )


def _candidate(
    choice: _Choice, route: Route, asked: str | None, *, ranked: bool = False
) -> Candidate:
    served = choice.served
    effort, shown = _effort(asked, served, route)
    return Candidate(
        route=route,
        served=served,
        model=route.model or served.model,
        public_model=served.model.id,
        upstream_model=route.upstream_model + choice.parameters,
        effort=effort,
        effort_shown=shown,
        high_effort=shown in HIGH,
        listed=choice.listed,
        only=len(served.routes) == 1,
        ranked=ranked,
    )


def _effort(asked: str | None, served: ServedModel, route: Route) -> tuple[str | None, str | None]:
    """The level to send and the level in force."""
    reasoning = (route.model.reasoning if route.model else None) or served.model.reasoning
    if reasoning is None:
        return asked, asked
    if not reasoning.levels:
        return None, "none"
    if asked is None:
        return None, reasoning.default
    level = clamp(asked, reasoning.levels)
    return level, level


def _within_window(candidates: list[Candidate], estimate: int) -> list[Candidate]:
    """Those whose window takes the prompt; if there is none, those with the largest."""
    fitting = [c for c in candidates if estimate <= _WINDOW_SLACK * _window(c)]
    if fitting:
        return fitting
    largest = max(_window(c) for c in candidates)
    return [c for c in candidates if _window(c) == largest]


def _window(candidate: Candidate) -> float:
    return candidate.model.context or candidate.served.model.context or float("inf")


def _force_one(candidates: list[Candidate], health: Health, now: float) -> list[Candidate]:
    """With every route cut off, put the least bad one first."""
    if any(health.may_try(c.route, now, only=c.only).go for c in candidates):
        return candidates
    least_bad = health.least_bad((c.route for c in candidates), now)
    chosen = next((c for c in candidates if c.route is least_bad), None)
    if chosen is None:
        return candidates
    rest = [c for c in candidates if c is not chosen]
    return [replace(chosen, forced=True), *rest]


def _hedged(
    candidates: Sequence[Candidate], health: Health, warm: str | None, estimate: int, now: float
) -> Candidate:
    """The first candidate, with the time after which a second may be started where that pays."""
    first = candidates[0]
    same = [c.route for c in candidates[1:] if c.public_model == first.public_model]
    if first.route.id == warm or estimate >= LARGE or not _hedge_pays(same, health, now):
        return first
    return replace(first, hedge_after=health.hedge_after(first.route, estimate))


def _hedge_pays(others: Iterable[Route], health: Health, now: float) -> bool:
    """Another route is healthy, and at most one is cut off."""
    verdicts = [health.may_try(route, now) for route in others]
    cut_off = sum(verdict.reason == "open" for verdict in verdicts)
    return cut_off <= 1 and any(v.go and v.probe_deadline is None for v in verdicts)
