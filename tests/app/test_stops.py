"""Stops through a whole gateway."""

import asyncio

from tests.app.conftest import Caller, Start
from zurelay.app.stops import StoredStops
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.office.stops import StopForm, resume, stop
from zurelay.plan.route import Stops
from zurelay.testing.chat import chat_reply
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream

OWNER = Actor("test", "owner")

CONFIG = """
[providers.first]
kind = "groq"
base_url = "{first}"
api_key = "SECRET-1"
catalogue = false
[providers.second]
kind = "groq"
base_url = "{second}"
api_key = "SECRET-2"
catalogue = false
[models."both"]
routes = [{{ provider = "first", model = "up" }}, {{ provider = "second", model = "up", priority = 2 }}]
[models."one"]
routes = [{{ provider = "first", model = "up" }}]
"""


async def begun(
    start: Start, first: ScriptedUpstream, second: ScriptedUpstream
) -> tuple[Caller, Desk]:
    for upstream in (first, second):
        upstream.enqueue(*(json_reply(chat_reply("Hello")) for _ in range(300)))
    caller = await start(CONFIG.format(first=first.base_url, second=second.base_url))
    return caller, Desk(caller.gateway.store)


async def heard(caller: Caller, stops: Stops) -> None:
    """The gateway has built its table anew."""
    process = caller.gateway.process
    async with asyncio.timeout(20):
        while process._stops.current != stops:
            await asyncio.sleep(0.01)
        while any(
            route.provider.name in stops.providers
            for one in process._gateway.core.snapshot.table.models.values()
            for route in one.routes
        ):
            await asyncio.sleep(0.01)


async def test_a_stopped_provider_is_not_asked_until_it_is_resumed(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller, desk = await begun(start, upstream, second)
    await asyncio.to_thread(stop, desk, OWNER, StopForm("provider", "first"))
    await heard(caller, Stops(providers=frozenset({"first"})))
    answer = await caller.chat(model="both")
    assert answer.status == 200
    entry = await caller.logged(answer)
    assert [attempt["route"] for attempt in entry["attempts"]] == [2], "routes keep their numbers"
    assert (len(upstream.requests), len(second.requests)) == (0, 1)
    answer = await caller.chat(model="one")
    assert (answer.status, answer.json["error"]["code"]) == (503, "no_route_available")
    assert answer.headers["x-should-retry"] == "false"
    assert (await caller.chat(model="one", models=["both"])).status == 200
    await asyncio.to_thread(resume, desk, OWNER, "provider", "first")
    await heard(caller, Stops())
    async with asyncio.timeout(20):
        while (await caller.chat(model="one")).status != 200:
            await asyncio.sleep(0.01)


async def test_a_stopped_model_is_listed_and_not_served(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller, desk = await begun(start, upstream, second)
    await asyncio.to_thread(stop, desk, OWNER, StopForm("model", "both"))
    async with asyncio.timeout(20):
        while (answer := await caller.chat(model="both")).status != 503:
            await asyncio.sleep(0.01)
    assert answer.json["error"]["code"] == "no_route_available"
    assert (await caller.get("/v1/models/both")).json["routes_up"] == 0
    assert (await caller.chat(model="both", models=["one"])).status == 200
    assert (await caller.chat(model="one", models=["both"])).status == 200
    counted = await caller.send(
        "POST",
        "/v1/messages/count_tokens",
        b'{"model": "both", "messages": [{"role": "user", "content": "Hi"}]}',
    )
    assert counted.status in (200, 503, 529)
    answer = await caller.chat(model="zurelay-auto")
    assert answer.status != 500


async def test_stops_are_read_when_they_change(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    _, desk = await begun(start, upstream, second)
    stops = StoredStops(desk.store)
    assert stops.changed()
    assert not stops.changed()
    stop(desk, OWNER, StopForm("model", "one"))
    assert stops.changed()
    assert stops.current == Stops(models=frozenset({"one"}))


async def test_a_drained_route_gets_no_new_request_and_ends_those_it_has(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller, desk = await begun(start, upstream, second)
    await asyncio.to_thread(stop, desk, OWNER, StopForm("route", "first:up"))
    await heard(caller, Stops(routes=frozenset({"first:up"})))
    async with asyncio.timeout(20):
        while (await caller.chat(model="one")).status != 503:
            await asyncio.sleep(0.01)
    asked = len(upstream.requests)
    entry = await caller.logged(await caller.chat(model="both"))
    assert [attempt["route"] for attempt in entry["attempts"]] == [2], "routes keep their numbers"
    answer = await caller.chat(model="one")
    assert (answer.status, answer.json["error"]["code"]) == (503, "no_route_available")
    assert (await caller.get("/v1/models/both")).json["routes_up"] == 1
    assert len(upstream.requests) == asked
    await asyncio.to_thread(resume, desk, OWNER, "route", "first:up")
    async with asyncio.timeout(20):
        while (await caller.chat(model="one")).status != 200:
            await asyncio.sleep(0.01)
