"""Routes in the console: how they stand, what failed, and what is stopped."""

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import replace

from starlette.requests import Request

from tests.console.history import requests, write
from tests.console.people import OWNER, Person
from zurelay.console.languages import language
from zurelay.console.page import Form, Html, Visit
from zurelay.console.rendering import render
from zurelay.console.routes import index, providers, standing
from zurelay.office.audit import list_audit
from zurelay.office.desk import Desk
from zurelay.office.pages import Page as ListPage
from zurelay.office.sessions import resume
from zurelay.office.stops import list_stops
from zurelay.office.trends import ProviderTrend
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/routes"


def route(provider: str, state: str, samples: int, rate: float | None) -> dict[str, object]:
    return {
        "provider": provider,
        "state": state,
        "in_flight": 1,
        "samples": samples,
        "success_rate": rate,
        "stopped": None,
    }


def test_a_providers_routes_are_counted_together() -> None:
    found = [
        route("a", "closed", 30, 1.0),
        route("a", "open", 10, 0.0),
        route("a", "half_open", 0, None),
    ]
    found[2]["stopped"] = "route"
    trends = [ProviderTrend("a", [1, 2], [0, 3]), ProviderTrend("gone", [1], [1])]
    first, second = providers(found, ["a", "b"], trends)
    assert (first.routes, first.up, first.held, first.in_flight) == (3, 1, 1, 3)
    assert (first.success_rate, first.tried_day, first.failed_day) == (0.75, 6, 3)
    found[2]["stopped"] = None
    assert providers(found, [])[0].trying == 1
    assert (second.name, second.routes, second.success_rate) == ("b", 0, None)


async def test_routes_are_listed_and_narrowed_down(people: Of) -> None:
    admin = people("admin")
    seen = await admin.get(HOME)
    assert seen.status == 200
    assert "sandbox/echo" in seen.text
    assert ">up</span>" in seen.text
    assert "sandbox/echo" not in (await admin.get(f"{HOME}?q=nothing-like-it")).text
    assert "Nothing passes this filter" in (await admin.get(f"{HOME}?state=open")).text


async def test_a_model_is_stopped_and_resumed(people: Of, gateway: RunningGateway) -> None:
    admin = people("admin")
    seen = await admin.post(f"{HOME}/stop", {"kind": "model", "name": "sandbox/echo", "note": "x"})
    assert "sandbox/echo is stopped." in seen.text
    assert "1 is stopped by hand" in seen.text
    desk = Desk(gateway.store)
    assert [(one.kind, one.name) for one in list_stops(desk, OWNER)] == [("model", "sandbox/echo")]
    seen = await admin.post(f"{HOME}/resume", {"kind": "model", "name": "sandbox/echo"})
    assert "sandbox/echo works again." in seen.text
    assert list_stops(desk, OWNER) == []
    seen = await admin.post(f"{HOME}/stop", {"kind": "model", "name": "<script>alert(1)"})
    assert "There is nothing of that name." in seen.text
    assert "<script>alert" not in seen.text


async def test_a_route_is_drained_and_resumed(people: Of, gateway: RunningGateway) -> None:
    admin = people("admin")
    wanted = {"kind": "route", "name": "sandbox:sandbox/echo"}
    seen = await admin.post(f"{HOME}/stop", wanted)
    assert "sandbox:sandbox/echo is being drained: it gets nothing new." in seen.text
    assert "by Admin," in seen.text, "who did it, by name"
    async with asyncio.timeout(20):
        while ">drained</span>" not in (seen := await admin.get(f"{HOME}?q=sandbox/echo")).text:
            await asyncio.sleep(0.05)
    assert "drained, nothing under way" in seen.text
    assert "sandbox/echo" in (await admin.get(f"{HOME}?state=stopped")).text
    desk = Desk(gateway.store)
    assert [line.action for line in list_audit(desk, OWNER, ListPage()).data][:1] == ["route.stop"]
    seen = await admin.post(f"{HOME}/resume", wanted)
    assert "sandbox:sandbox/echo works again." in seen.text


async def test_failures_are_charted_by_the_hour_for_all_nodes(
    people: Of, gateway: RunningGateway
) -> None:
    admin = people("admin")
    assert "Failed attempts by the hour" not in (await admin.get(HOME)).text
    write(gateway.store, requests(time.time(), 200, "acct_1", ("key_1",), days=0.5))
    text = (await admin.get(HOME)).text
    assert "Failed attempts by the hour" in text


async def test_a_model_is_stopped_from_its_own_page(people: Of) -> None:
    admin, member = people("admin"), people("member")
    path = "/console/models/sandbox/echo"
    stop = 'action="/console/routes/stop"'
    assert stop in (await admin.get(path)).text
    assert stop not in (await member.get(path)).text
    await admin.post(f"{HOME}/stop", {"kind": "model", "name": "sandbox/echo"})
    assert 'action="/console/routes/resume"' in (await admin.get(path)).text


async def test_the_page_says_whose_view_of_health_it_is(
    people: Of, gateway: RunningGateway
) -> None:
    owner, process = people("owner"), gateway.process
    assert f"health as {socket.gethostname()} sees it" in (await owner.get(HOME)).text
    parts = replace(process._console_parts(), host="gw-1", worker="worker-2", workers=4)
    scope = {"type": "http", "method": "GET", "path": HOME, "query_string": b"", "headers": []}
    visit = Visit(
        parts=parts,
        request=Request(scope),
        language=language("en"),
        theme="light",
        path={},
        query={},
        form=Form(),
        secret="x",
        visitor=resume(parts.desk, owner.cookies["zurelay_session"]),
        gathered=standing(parts),
    )
    reply = index(visit)
    assert isinstance(reply, Html)
    said = "health as worker-2 of 4 on gw-1 sees it; others may see it otherwise"
    assert said in render(visit, reply)


async def test_who_runs_nothing_sees_no_routes(people: Of) -> None:
    member = people("member")
    assert (await member.get(HOME)).status == 403
    assert (await member.post(f"{HOME}/stop", {"kind": "model", "name": "x"})).status == 403
    assert HOME not in (await member.get("/console")).text
