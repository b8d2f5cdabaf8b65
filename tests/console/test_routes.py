"""Routes in the console: how they stand, what failed, and what is stopped."""

import asyncio
import re
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest
from msgspec.structs import replace
from starlette.requests import Request

from tests.console.history import requests, write
from tests.console.people import OWNER, Person
from zurelay.console import routes as console_routes
from zurelay.console.languages import language
from zurelay.console.page import Form, Html, Visit
from zurelay.console.rendering import render
from zurelay.console.routes import index, providers, standing
from zurelay.office.audit import list_audit
from zurelay.office.desk import Desk
from zurelay.office.pages import Page as ListPage
from zurelay.office.routes import Picture, Silent
from zurelay.office.sessions import resume
from zurelay.office.stops import StopForm, list_stops, stop
from zurelay.office.trends import ProviderTrend
from zurelay.plan.report import ErrorShown, Report, Standing
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/routes"


class Page(Protocol):
    def __call__(self, seen: Picture, **query: str) -> Awaitable[str]: ...


def route(
    id_: str, state: str, samples: int, rate: float | None, up_in: int | None = None
) -> dict[str, Any]:
    return {
        "id": id_,
        "provider": "a",
        "state": state,
        "in_flight": 1,
        "samples": samples,
        "success_rate": rate,
        "stopped": None,
        "processes": 4,
        "up_in": 4 * (state in {"closed", "half_open"}) if up_in is None else up_in,
    }


def test_a_providers_routes_are_counted_together() -> None:
    found = [
        route("a:x", "closed", 30, 1.0),
        route("a:y", "open", 10, 0.0),
        route("a:z", "half_open", 0, None),
    ]
    found[2]["stopped"] = "route"
    trends = [ProviderTrend("a", [1, 2], [0, 3]), ProviderTrend("gone", [1], [1])]
    first, second = providers(found, ["a", "b"], trends)
    assert (first.routes, first.up, first.held, first.in_flight) == (3, 1, 1, 3)
    assert (first.success_rate, first.tried_day, first.failed_day) == (0.75, 6, 3)
    found[2]["stopped"] = None
    assert providers(found, [])[0].trying == 1
    assert (second.name, second.routes, second.success_rate) == ("b", 0, None)


def test_a_route_that_one_process_cannot_use_is_partly_up() -> None:
    (row,) = providers(
        [route("a:x", "open", 10, 0.5, up_in=3), route("a:y", "closed", 0, None)], []
    )
    assert (row.routes, row.up, row.partly) == (2, 2, 1)
    (row,) = providers([route("a:x", "resting", 10, 0.5, up_in=0)], [])
    assert (row.routes, row.up, row.partly) == (1, 0, 0)


def test_what_is_under_way_at_a_route_of_two_models_counts_once() -> None:
    (row,) = providers([route("a:x", "closed", 5, 1.0), route("a:x", "closed", 5, 1.0)], [])
    assert (row.routes, row.in_flight, row.samples) == (2, 1, 5)


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


ECHO = "sandbox:sandbox/echo"
STALL = "sandbox:sandbox/stall"
SICK = Standing(
    state="open",
    cause="connection",
    wait_s=12.0,
    samples=40,
    success_rate=0.25,
    in_flight=7,
    attempts_1h=90,
    failed_1h=30,
    last_errors=(ErrorShown("connect", None, "<script>alert(1)</script>", 3.0),),
)
BUSY = Standing(samples=60, success_rate=1.0, in_flight=5, attempts_1h=60)


def reports(*standings: Standing) -> tuple[Report, ...]:
    return tuple(
        Report(f"j{n}", f"gw-1:worker-{n}", {ECHO: one, STALL: one}, float(n - 1))
        for n, one in enumerate(standings, 1)
    )


@pytest.fixture
def page(people: Of, gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> Page:
    """The page of an owner, by what processes are said to know."""
    owner, process = people("owner"), gateway.process

    async def shown(seen: Picture, **query: str) -> str:
        await owner.get("/console")  # signs in
        monkeypatch.setattr(console_routes, "picture", lambda *_: seen)
        parts = process._console_parts()
        scope = {"type": "http", "method": "GET", "path": HOME, "query_string": b"", "headers": []}
        visit = Visit(
            parts=parts,
            request=Request(scope),
            language=language("en"),
            theme="light",
            path={},
            query=query,
            form=Form(),
            secret="x",
            visitor=resume(parts.desk, owner.cookies["zurelay_session"]),
            gathered=standing(parts),
        )
        reply = index(visit)
        assert isinstance(reply, Html)
        return render(visit, reply)

    return shown


async def test_a_process_alone_is_named_by_its_machine(people: Of) -> None:
    text = (await people("owner").get(HOME)).text
    assert f"health as {socket.gethostname()} sees it" in text
    assert "All processes" not in text


async def test_several_processes_are_shown_together(page: Page) -> None:
    text = await page(Picture(reports(BUSY, SICK, BUSY, BUSY)), q="sandbox/echo")
    said = "health as 4 processes see it together, the oldest report 3 seconds ago"
    assert said in text
    row = text[text.index('<table class="cards routes">') :]
    assert "in 1 of 4: gw-1:worker-2" in row
    assert ">down</span>" in row
    assert "badge bad" not in row, "three can use it"
    assert language("en").share(190 / 220) in row
    assert "30 <span" in row, "failed in the last hour"
    assert re.search(r'data-label="Under way">22<', row)
    assert "gw-1:worker-2</span><br>" in row, "who met the error"
    assert "<script>alert" not in text
    assert ">partly up</span>" in text


async def test_what_is_down_for_all_is_down(page: Page) -> None:
    text = await page(Picture(reports(SICK, SICK, SICK)), q="sandbox/echo")
    row = text[text.index('<table class="cards routes">') :]
    assert "badge bad" in row
    assert " of 3: " not in row
    resting = replace(SICK, state="resting")
    text = await page(Picture(reports(SICK, SICK, SICK, resting)), q="sandbox/echo")
    assert "in 3 of 4: gw-1:worker-1, gw-1:worker-2…" in text


async def test_one_process_is_looked_at_alone(page: Page) -> None:
    seen = Picture(reports(BUSY, SICK))
    text = await page(seen)
    assert 'href="/console/routes?process=j2"' in text
    text = await page(seen, process="j2", q="sandbox/echo")
    assert "health as gw-1:worker-2 alone sees it" in text
    assert 'hx-get="/console/routes?process=j2"' in text, "and so it stays"
    assert '<input type="hidden" name="process" value="j2">' in text
    assert "provider=sandbox&amp;process=j2" in text
    row = text[text.index('<table class="cards routes">') :]
    assert re.search(r'data-label="Under way">7<', row)
    assert " of 1" not in row


async def test_a_process_that_is_gone_is_said_to_be(page: Page) -> None:
    text = await page(Picture(reports(BUSY)), process="<b>j9")
    assert "The process you looked at is silent." in text
    assert "<b>j9" not in text
    assert "The process you looked at" not in await page(Picture(reports(BUSY)))


async def test_who_is_not_heard_of_is_named_and_does_not_count(page: Page) -> None:
    seen = Picture(reports(BUSY), (Silent("j2", "gw-1:worker-2", 41.0),))
    text = await page(seen)
    assert "1 process is silent and does not count here" in text
    assert "gw-1:worker-2" in text
    assert "health as gw-1:worker-1 alone sees it" in text


async def test_without_the_store_the_page_says_whom_it_speaks_for(page: Page) -> None:
    text = await page(Picture(reports(BUSY), store_away=True))
    assert "The database does not answer, so other processes cannot be heard of." in text
    assert "health as gw-1:worker-1 alone sees it" in text


async def test_what_is_under_way_at_a_drained_route_is_the_sum_of_all(
    page: Page, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    stop(desk, OWNER, StopForm("route", ECHO))
    text = await page(Picture(reports(BUSY, SICK, BUSY)))
    assert "17 still under way" in text
    assert "5 still under way" in await page(Picture(reports(BUSY, SICK, BUSY)), process="j3")


async def test_who_runs_nothing_sees_no_routes(people: Of) -> None:
    member = people("member")
    assert (await member.get(HOME)).status == 403
    assert (await member.post(f"{HOME}/stop", {"kind": "model", "name": "x"})).status == 403
    assert HOME not in (await member.get("/console")).text
