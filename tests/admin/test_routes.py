import msgspec

from tests.admin.conftest import Admin
from zurelay.admin.routes import ModelView, RouteView


async def test_every_route_is_told_or_those_of_one_model(admin: Admin) -> None:
    everything = (await admin.get("/routes", role="read-only"))["data"]
    assert len(everything) > 1
    for route in everything:
        assert set(msgspec.to_builtins(msgspec.convert(route, RouteView))) == set(route)
    (one,) = (await admin.get("/routes?model=sandbox/echo"))["data"]
    assert (one["model"], one["state"]) == ("sandbox/echo", "closed")
    assert (await admin.get("/routes?model=nothing"))["data"] == []
    assert (await admin.call("GET", "/routes", role="member")).status == 403


async def test_every_model_that_is_served_is_told(admin: Admin) -> None:
    models = (await admin.get("/models"))["data"]
    assert {"sandbox/echo", "sandbox/lorem"} <= {model["id"] for model in models}
    for model in models:
        assert set(msgspec.to_builtins(msgspec.convert(model, ModelView))) == set(model)
        assert model["routes_up"] == 1
