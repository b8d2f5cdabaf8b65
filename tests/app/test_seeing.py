from dataclasses import replace

from tests.plan.made import fail, model, provider, route, served, succeed, table
from zurelay.app.seeing import MOST_MODELS, Routes, machine, models, node
from zurelay.catalogue.model import Price
from zurelay.chat.faults import FaultKind
from zurelay.config.alerts import Alerts
from zurelay.office.watching import Sighting
from zurelay.plan.health import Health
from zurelay.plan.route import RoutingTable, ServedModel
from zurelay.telemetry.metrics import StoreHealth

NOW = 1_795_953_600.0  # 2026-11-29
OUTSIDE = provider("p")
FIRST, SECOND = route(OUTSIDE, "a"), route(OUTSIDE, "b")
OTHER = route(provider("q"), "a")
TABLE = table(served("m", [FIRST, OTHER]), served("n", [SECOND]))
ALERTS = Alerts()


def seen(
    routes: Routes, health: Health, now: float, of: RoutingTable = TABLE, down_s: float = 300
) -> list[tuple[str, str]]:
    return [(one.kind, one.about) for one in routes.see(of, health, now, down_s)]


def cut_off(health: Health, now: float) -> None:
    """The first route fails until it is cut off."""
    fail(health, FIRST, FaultKind.MODEL_MISSING, now)


def test_a_route_is_down_after_five_minutes_and_not_before() -> None:
    health, routes = Health(), Routes()
    cut_off(health, 0.0)
    assert seen(routes, health, 1.0) == []
    assert seen(routes, health, 300.9) == []  # cut off no more, but nothing has come through yet
    assert seen(routes, health, 301.0) == [("route_down", "p:a")]


def test_a_route_that_answered_meanwhile_begins_anew() -> None:
    health, routes = Health(), Routes()
    cut_off(health, 0.0)
    assert seen(routes, health, 1.0) == []
    health.may_try(FIRST, 200.0)
    succeed(health, FIRST, 200.0)
    assert seen(routes, health, 201.0) == []
    cut_off(health, 202.0)
    assert seen(routes, health, 302.0) == []
    assert seen(routes, health, 602.0) == [("route_down", "p:a")]


def test_a_refused_credential_is_known_at_once_and_once_for_all_routes() -> None:
    health, routes = Health(), Routes()
    fail(health, FIRST, FaultKind.REFUSED_CREDENTIAL, 0.0)
    assert seen(routes, health, 1.0) == [("credential_refused", "p")]
    assert seen(routes, health, 1000.0) == [("credential_refused", "p")]


def test_the_latest_word_about_a_credential_counts() -> None:
    health, routes = Health(), Routes()
    fail(health, FIRST, FaultKind.REFUSED_CREDENTIAL, 0.0)
    fail(health, SECOND, FaultKind.OUT_OF_CREDIT, 5.0)
    assert seen(routes, health, 6.0) == [("out_of_credit", "p")]


def test_a_provider_that_cannot_be_reached_is_one_thing_to_know() -> None:
    health, routes = Health(), Routes()
    for at in (0.0, 0.1, 0.2):
        fail(health, FIRST, FaultKind.CONNECT, at)
    succeed(health, OTHER, 0.3)
    fail(health, SECOND, FaultKind.CONNECT, 0.4)
    assert seen(routes, health, 1.0) == []
    assert seen(routes, health, 301.0) == [("unreachable", "p")]


def test_what_was_stopped_is_not_down() -> None:
    health, routes = Health(), Routes()
    cut_off(health, 0.0)
    held = RoutingTable({"m": ServedModel(model("m"), (), held=((FIRST, "route"),))})
    assert seen(routes, health, 1.0, held) == []
    assert seen(routes, health, 400.0, held) == []


def test_models_that_retire_within_the_time_are_named_by_their_day() -> None:
    def shown(days: int = 30) -> list[Sighting]:
        return models(served_, NOW, replace(ALERTS, retiring_days=days), prepaid=False)

    last_days = ["", "2026-11-28", "2026-11-29", "2026-12-29", "2026-12-29", "2026-12-30"]
    named = {f"m{n}": replace(model(f"m{n}"), retires=day) for n, day in enumerate(last_days)}
    served_ = table(*(served(one) for one in named.values()))
    assert shown() == [
        Sighting("retiring", "2026-11-29", {"day": "2026-11-29", "models": ["m2"]}),
        Sighting("retiring", "2026-12-29", {"day": "2026-12-29", "models": ["m3", "m4"]}),
    ]
    assert [one.about for one in shown(1)] == ["2026-11-29"]
    assert shown(0) == []


def test_a_model_without_a_price_matters_where_all_must_be_paid() -> None:
    priced = replace(model("priced"), price=Price({"input": 1, "output": 1}))
    free = [served(f"m{n:02}") for n in range(MOST_MODELS + 1)]
    everything = table(served(priced), *free)
    assert models(everything, NOW, ALERTS, prepaid=False) == []
    (one,) = models(everything, NOW, ALERTS, prepaid=True)
    assert (one.kind, one.detail["models"][0], one.detail["models"][-1]) == ("unpriced", "m00", "…")
    assert len(one.detail["models"]) == MOST_MODELS + 1


def test_a_node_tells_that_it_takes_nothing_and_what_it_cannot_deliver() -> None:
    def shown(status: str, **health: float) -> list[str]:
        found = StoreHealth(**health)  # type: ignore[arg-type]
        return [one.kind for one in node("n1", {"status": status}, found, ALERTS)]

    assert shown("ok") == []
    assert shown("degraded", spooled=3, lag_s=299.9) == []
    assert shown("degraded", spooled=3, lag_s=300.0) == ["spool"]
    assert shown("ok", spooled=0, lag_s=1000.0) == []
    assert shown("unavailable") == ["not_ready"]


def test_a_disk_and_a_clock_are_seen_at_their_bounds() -> None:
    def shown(used: int = 0, ahead: float = 0.0) -> list[tuple[str, object]]:
        found = machine("host", (used, 1000 - used), ahead, ALERTS)
        return [(one.kind, one.detail.get("percent", one.detail.get("seconds"))) for one in found]

    assert shown(799) == []
    assert shown(800) == [("disk", 80)]
    assert shown(ahead=0.99) == []
    assert shown(ahead=1.0) == [("clock", -1.0)]
    assert shown(ahead=-2.34) == [("clock", 2.3)]
    assert machine("host", (0, 0), 0.0, ALERTS) == []
