from dataclasses import replace

from tests.plan.made import fail, provider, route, served, succeed, table
from zurelay.chat.faults import FaultKind
from zurelay.plan.health import Health
from zurelay.plan.report import Report, states_of
from zurelay.plan.report import shown as told
from zurelay.plan.view import routes_view

FIRST = route(provider("a"), priority=2, weight=3)
SECOND = route(provider("b"))
OTHER = route(provider("c"))
TABLE = table(served("m", [FIRST, SECOND]), served("n", [OTHER]))


def shown(health: Health | None, now: float = 100.0, model: str | None = None) -> list[dict]:  # type: ignore[type-arg]
    if health is None:
        return routes_view(TABLE, (), model)
    return routes_view(TABLE, [report(health, now, "j1")], model)


def report(health: Health, now: float, id_: str) -> Report:
    seen = told(states_of(TABLE, health, now), lambda text: text.replace("words", "[hidden]"))
    return Report(id_, f"gw:{id_}", seen)


def test_every_model_and_route_is_told_in_the_order_of_the_table() -> None:
    rows = shown(Health())
    assert [(r["model"], r["id"]) for r in rows] == [("m", "a:u"), ("m", "b:u"), ("n", "c:u")]
    assert (rows[0]["priority"], rows[0]["weight"], rows[0]["provider"]) == (2, 3, "a")
    assert [r["id"] for r in shown(Health(), model="n")] == ["c:u"]
    assert shown(Health(), model="x") == []


def test_a_route_that_was_not_used_has_no_figures() -> None:
    row = shown(Health())[0]
    assert (row["state"], row["cause"], row["wait_s"]) == ("closed", None, 0.0)
    assert (row["samples"], row["success_rate"], row["first_token_p50_ms"]) == (0, None, None)
    assert row["last_errors"] == []


def test_figures_and_failures_are_told_with_redacted_words() -> None:
    health = Health()
    for _ in range(3):
        succeed(health, FIRST, 90.0, first=0.5)
    fail(health, FIRST, FaultKind.SERVER_ERROR, 95.0)
    health.began(FIRST, 96.0)
    row = shown(health)[0]
    assert (row["samples"], row["success_rate"], row["in_flight"]) == (4, 0.75, 1)
    assert 400 <= row["first_token_p50_ms"] <= 600
    assert row["last_errors"] == [
        {"reason": "server_error", "http_status": 500, "message": "[hidden]", "age_s": 5.0}
        | {"process": "gw:j1"}
    ]


def test_a_resting_route_says_how_long_and_a_cut_off_one_why() -> None:
    health = Health()
    fail(health, FIRST, FaultKind.RATE_LIMITED, 95.0, retry_after=20)
    fail(health, SECOND, FaultKind.REFUSED_CREDENTIAL, 95.0)
    first, second, _ = shown(health)
    assert (first["state"], first["wait_s"]) == ("resting", 15.0)
    assert (second["state"], second["cause"]) == ("open", "credential")


def test_without_a_gateway_the_state_is_unknown() -> None:
    row = shown(None)[0]
    assert (row["state"], row["success_rate"], row["in_flight"]) == ("unknown", None, None)
    assert (row["processes"], row["state_at"], row["up_in"]) == (0, [], None)
    assert set(row) == set(shown(Health())[0])


def test_attempts_of_the_last_hour_are_counted_and_a_requests_own_faults_are_not() -> None:
    health = Health()
    for at in (90.0, 91.0):
        succeed(health, FIRST, at, first=0.5)
    fail(health, FIRST, FaultKind.SERVER_ERROR, 95.0)
    fail(health, FIRST, FaultKind.CONNECT, 95.0)
    fail(health, FIRST, FaultKind.REJECTED, 95.0)
    first, second, _ = shown(health)
    assert (first["attempts_1h"], first["failed_1h"]) == (4, 2)
    assert (second["attempts_1h"], second["failed_1h"]) == (0, 0)


def test_what_is_stopped_stands_among_the_others_and_says_so() -> None:
    held = replace(served("m", [FIRST, SECOND]), routes=(replace(SECOND, number=2),))
    held = replace(held, held=((replace(FIRST, number=1), "route"),))
    rows = routes_view(table(held), [Report("j1", "gw")])
    assert [(r["id"], r["route"], r["stopped"]) for r in rows] == [
        ("a:u", 1, "route"),
        ("b:u", 2, None),
    ]


def test_several_processes_are_shown_together() -> None:
    one, two = Health(), Health()
    for health in (one, two):
        succeed(health, FIRST, 90.0, first=0.5)
        health.began(FIRST, 96.0)
    fail(one, SECOND, FaultKind.REFUSED_CREDENTIAL, 95.0)
    reports = [report(one, 100.0, "j1"), report(two, 100.0, "j2")]
    first, second, _ = routes_view(TABLE, reports)
    assert (first["in_flight"], first["samples"], first["processes"]) == (2, 2, 2)
    assert (first["state"], first["state_at"], first["up_in"]) == ("closed", ["gw:j1", "gw:j2"], 2)
    assert (second["state"], second["state_at"], second["up_in"]) == ("open", ["gw:j1"], 1)
    assert [one["process"] for one in second["last_errors"]] == ["gw:j1"]


def test_a_route_that_two_models_share_is_told_for_each() -> None:
    both = table(served("m", [FIRST]), served("n", [FIRST]))
    health = Health()
    health.began(FIRST, 96.0)
    rows = routes_view(both, [report(health, 100.0, "j1")])
    assert [(row["model"], row["id"], row["in_flight"]) for row in rows] == [
        ("m", "a:u", 1),
        ("n", "a:u", 1),
    ]
