"""A short time of a cluster in motion; `make cluster` is the long one."""

from pathlib import Path

import pytest

from tests.cluster.run import BUSY_S, SHORT, Plan, run
from tests.servers import postgresql_server
from tests.valkey_server import valkey

PLAN = Plan(
    seconds=6,
    seed=7,
    callers={"open": 4, "prepaid": 4, "budget": 2, "limited": 2},
    credit=800_000,
    budget=600_000,
    rpm=10,
    steps=SHORT,
    credits=(0.3, 0.6),
)


@pytest.mark.timeout(120)
async def test_money_is_exact_while_nodes_come_and_go_and_servers_restart(tmp_path: Path) -> None:
    with postgresql_server() as postgresql, valkey() as shared:
        outcome = await run(tmp_path, PLAN, postgresql, shared)
    if outcome.verdict.wrong and outcome.lag > BUSY_S:
        pytest.skip(f"this machine is too busy: {outcome.lag:.1f} s late")
    assert outcome.verdict.wrong == []
    ends = {(one.kind, one.end, one.status) for one in outcome.asked}
    assert {(kind, "whole", 200) for kind in PLAN.callers} <= ends
    assert {("prepaid", "refused", 402), ("budget", "refused", 402)} <= ends
    assert ("limited", "refused", 429) in ends
