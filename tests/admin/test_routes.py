from starlette.requests import Request

from tests.plan.made import fail, provider, route, served, table
from tests.store.rows import Clock
from zurelay.admin.parts import AdminParts
from zurelay.admin.routes import list_routes
from zurelay.chat.faults import FaultKind
from zurelay.live.tokens import TokenRing
from zurelay.plan.health import Health
from zurelay.wire import json


class _NoTokens:
    def version(self) -> int:
        raise AssertionError

    def load(self) -> list[object]:
        raise AssertionError

    def close(self) -> None:
        pass


def asked(query: str = "") -> list[dict[str, object]]:
    first, second = route(provider("a")), route(provider("b"))
    health = Health()
    fail(health, first, FaultKind.SERVER_ERROR, 90.0)
    parts = AdminParts(
        tokens=TokenRing(_NoTokens(), clock=Clock()),  # type: ignore[arg-type]
        health=health,
        table=lambda: table(served("m/1", [first]), served("n", [second])),
        redact=lambda text: text.upper(),
        now=lambda: 100.0,
        request_id=lambda: "req_1",
    )
    scope = {"type": "http", "method": "GET", "query_string": query.encode(), "headers": []}
    told = json.decode(bytes(list_routes(parts, Request(scope)).body))
    assert told["object"] == "list"
    data: list[dict[str, object]] = told["data"]
    return data


def test_every_route_is_told_with_its_redacted_errors() -> None:
    rows = asked()
    assert [row["id"] for row in rows] == ["a:u", "b:u"]
    assert rows[0]["last_errors"] == [
        {"reason": "server_error", "http_status": 500, "message": "WORDS", "age_s": 10.0}
    ]


def test_one_model_may_be_asked_for() -> None:
    assert [row["model"] for row in asked("model=m%2F1")] == ["m/1"]
    assert asked("model=nothing") == []
