"""How long a decision takes with 500 models, in processor time of one thread."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from bench.auto.replay import ALL, AT, KEY, asked, serving
from bench.auto.shapes import CODE, SCHEMA, TOOLS, WORD
from zurelay.formats.base import Inbound
from zurelay.plan.affinity import Affinity
from zurelay.plan.auto.choose import Caller
from zurelay.plan.health import Health
from zurelay.plan.planner import choice_of, make_plan
from zurelay.plan.route import RoutingTable

MODELS = 500
_ROUNDS = 15
_CALLS = 200


@dataclass(frozen=True)
class Timed:
    """Microseconds: the decision, the plan with all routes, and the first decision of its shape."""

    name: str
    decision: float
    plan: float
    first: float


def table_of(count: int = MODELS) -> RoutingTable:
    """The models of thirteen vendors, and copies of them until there are enough."""
    table = serving(ALL)
    models = dict(table.models)
    while len(models) < count:
        for served in table.models.values():
            if len(models) >= count:
                break
            name = f"{served.model.id}-{len(models)}"
            models[name] = replace(served, model=replace(served.model, id=name))
    return RoutingTable(dict(list(models.items())[:count]), table.auto)


def requests() -> Iterator[tuple[str, Inbound]]:
    def chat(text: str, **fields: Any) -> Inbound:
        body = {"messages": [{"role": "user", "content": text}], **fields}
        return asked(body, "zurelay-auto")

    yield "short question", chat("How are you?")
    yield "high effort", chat(WORD * 10, reasoning_effort="high")
    yield "tools", chat(CODE * 5, tools=TOOLS)
    yield "schema and limit", chat(WORD * 50, response_format=SCHEMA, max_tokens=1000)
    yield "50,000 tokens", chat(WORD * 2500)


def measured(table: RoutingTable) -> Iterator[Timed]:
    auto = table.auto
    if auto is None:
        raise AssertionError("the table has no smart choice")
    caller = Caller(KEY.account, KEY.may_use, KEY)
    health, affinity = Health(), Affinity()

    def decide(inbound: Inbound) -> object:
        return choice_of(
            table, auto, inbound, caller, health=health, affinity=affinity, now=0.0, at=AT
        )

    def plan(inbound: Inbound) -> object:
        return make_plan(
            table,
            inbound,
            may_use=KEY.may_use,
            health=health,
            affinity=affinity,
            account=KEY.account,
            now=0.0,
            draw=lambda: 0.5,
            key=KEY,
            wall=lambda: AT,
        )

    for name, inbound in requests():
        began = time.thread_time()
        decide(inbound)
        first = time.thread_time() - began
        yield Timed(name, _median(decide, inbound), _median(plan, inbound), first * 1e6)


def _median(call: Any, inbound: Inbound) -> float:
    rounds = []
    for _ in range(_ROUNDS):
        began = time.thread_time()
        for _ in range(_CALLS):
            call(inbound)
        rounds.append((time.thread_time() - began) / _CALLS * 1e6)
    return median(rounds)
