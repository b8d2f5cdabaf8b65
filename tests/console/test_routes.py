"""Routes in the console: how they stand, what failed, and what is stopped."""

from collections.abc import Callable

from tests.console.people import OWNER, Person
from zurelay.console.routes import providers
from zurelay.office.desk import Desk
from zurelay.office.stops import list_stops
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
    }


def test_a_providers_routes_are_counted_together() -> None:
    found = [
        route("a", "closed", 30, 1.0),
        route("a", "open", 10, 0.0),
        route("a", "half_open", 0, None),
    ]
    first, second = providers(found, ["a", "b"])
    assert (first.routes, first.up, first.in_flight, first.success_rate) == (3, 2, 3, 0.75)
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


async def test_who_runs_nothing_sees_no_routes(people: Of) -> None:
    member = people("member")
    assert (await member.get(HOME)).status == 403
    assert (await member.post(f"{HOME}/stop", {"kind": "model", "name": "x"})).status == 403
    assert HOME not in (await member.get("/console")).text
