"""A short siege of a gateway in this process; `make chaos` is the long one."""

import asyncio
from pathlib import Path

import pytest

from tests.app.conftest import until
from tests.chaos.run import BUSY_S, Upstreams, besiege, configuration, judge_log
from zurelay.store.engine import open_store
from zurelay.store.requests import Filter, list_requests
from zurelay.testing.gateway import RunningGateway

MODELS = 4


@pytest.mark.parametrize("hedge", [False, True])
async def test_no_caller_sees_a_failure_while_one_route_is_well(
    tmp_path: Path, hedge: bool
) -> None:
    async with Upstreams().running(seed=7, pace=0.01) as upstreams:
        config = configuration(upstreams, MODELS, hedge=hedge)
        async with RunningGateway(tmp_path, config) as gateway:
            began = len(asyncio.all_tasks())
            seen = await besiege(
                gateway.base_url, gateway.key, models=MODELS, streams=25, seconds=1.5, seed=7
            )
            edge = gateway.process._gateway
            # The last caller may have left a moment ago.
            await until(lambda: not (edge.core.runs or edge.core.streams or edge.inflight))
            for server in upstreams.servers:
                server.drop_all()
            await until(lambda: len(asyncio.all_tasks()) <= began and not upstreams.open)
    store = open_store(gateway.data)
    with store.read() as connection:
        judge_log(list_requests(connection, Filter(), 10**6), seen, upstreams)
    store.close()
    if seen.wrong and seen.lag > BUSY_S:
        pytest.skip(f"this machine is too busy: {seen.lag:.1f} s late")
    assert seen.wrong == []
    assert seen.ends["stream: whole"] > 20
    assert seen.ends["plain: whole"] > 0
