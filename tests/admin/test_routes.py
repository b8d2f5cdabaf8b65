import msgspec
import pytest

from tests.admin.conftest import Admin
from zurelay.admin import routes
from zurelay.admin.routes import ModelView, RoutesView, RouteView
from zurelay.office.routes import Picture, Silent
from zurelay.plan.report import Report, Standing


async def test_every_route_is_told_or_those_of_one_model(admin: Admin) -> None:
    everything = (await admin.get("/routes", role="read-only"))["data"]
    assert len(everything) > 1
    for route in everything:
        assert set(msgspec.to_builtins(msgspec.convert(route, RouteView))) == set(route)
    (one,) = (await admin.get("/routes?model=sandbox/echo"))["data"]
    assert (one["model"], one["state"]) == ("sandbox/echo", "closed")
    assert (await admin.get("/routes?model=nothing"))["data"] == []
    assert (await admin.call("GET", "/routes", role="member")).status == 403


async def test_a_process_alone_speaks_for_itself_and_says_so(admin: Admin) -> None:
    told = await admin.get("/routes?model=sandbox/echo")
    msgspec.convert(told, RoutesView)
    (process,) = told["processes"]
    assert (process["asked"], process["counted"], process["age_s"]) == (True, True, 0.0)
    assert process["name"].endswith(":data")
    assert told["store_away"] is False
    (route,) = told["data"]
    assert (route["processes"], route["state_at"]) == (1, [process["name"]])
    same = await admin.get(f"/routes?model=sandbox/echo&process={process['id']}")
    assert same["data"] == told["data"]
    assert (await admin.call("GET", "/routes?process=other")).status == 404
    assert (await admin.call("GET", "/routes?process=")).status == 400


async def test_all_processes_are_told_together_or_one_alone(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = "sandbox:sandbox/echo"
    reports = [
        Report("j1", "gw:worker-1", {id_: Standing(in_flight=2)}),
        Report("j2", "gw:worker-2", {id_: Standing(state="open", in_flight=3)}, 4.0),
    ]
    seen = Picture(tuple(reports), (Silent("j3", "gw:worker-3", 41.0),), store_away=True)
    monkeypatch.setattr(routes, "picture", lambda *_: seen)
    told = await admin.get("/routes?model=sandbox/echo")
    (one,) = told["data"]
    assert (one["in_flight"], one["state"], one["state_at"]) == (5, "open", ["gw:worker-2"])
    assert (one["processes"], one["up_in"]) == (2, 1)
    assert told["store_away"] is True
    assert [(p["id"], p["asked"], p["counted"], p["age_s"]) for p in told["processes"]] == [
        ("j1", True, True, 0.0),
        ("j2", False, True, 4.0),
        ("j3", False, False, 41.0),
    ]
    (alone,) = (await admin.get("/routes?model=sandbox/echo&process=j1"))["data"]
    assert (alone["in_flight"], alone["state"], alone["processes"]) == (2, "closed", 1)
    assert (await admin.call("GET", "/routes?process=j3")).status == 404


async def test_every_model_that_is_served_is_told(admin: Admin) -> None:
    models = (await admin.get("/models"))["data"]
    assert {"sandbox/echo", "sandbox/lorem"} <= {model["id"] for model in models}
    for model in models:
        assert set(msgspec.to_builtins(msgspec.convert(model, ModelView))) == set(model)
        assert model["routes_up"] == 1
