"""The admin API over HTTP, in a whole gateway."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from zurelay.access.keys import hash_key, last4
from zurelay.access.tokens import AdminToken, Role, make_token
from zurelay.admin.application import ENDPOINTS
from zurelay.app.local_token import read
from zurelay.store.tokens import add_token
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient
from zurelay.upstream.reading import Response
from zurelay.wire import json

TOKEN = make_token(b"\x01" * 32)
READER = make_token(b"\x02" * 32)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with RunningGateway(tmp_path) as running:
        with running.store.write() as connection:
            roles: list[tuple[str, Role]] = [(TOKEN, "admin"), (READER, "read-only")]
            for number, (text, role) in enumerate(roles):
                add_token(
                    connection,
                    AdminToken(f"tok_{number}", role, role, hash_key(text), last4(text), 1),
                )
        yield running


async def call(
    gateway: RunningGateway, path: str, bearer: str = "", method: str = "GET", **headers: str
) -> Response:
    shown = [("authorization", f"Bearer {bearer}")] if bearer else []
    more = [(name.replace("_", "-"), value) for name, value in headers.items()]
    async with HttpClient() as client:
        return await client.fetch(Call(method, gateway.base_url + path, (*shown, *more), b""))


def code(answer: Response) -> str:
    found: str = json.decode(answer.body)["error"]["code"]
    return found


async def test_routes_are_told_to_an_admin(gateway: RunningGateway) -> None:
    answer = await call(gateway, "/api/v1/routes?model=sandbox/echo", TOKEN)
    assert answer.status == 200
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.headers["cache-control"] == "no-store"
    told = json.decode(answer.body)
    assert told["object"] == "list"
    assert [(r["model"], r["state"]) for r in told["data"]] == [("sandbox/echo", "closed")]
    everything = json.decode((await call(gateway, "/api/v1/routes", READER)).body)["data"]
    assert len(everything) > 1


@pytest.mark.parametrize("path", ["/api/v1/routes", "/api/v1/nothing"])
async def test_without_a_good_token_nothing_is_told(gateway: RunningGateway, path: str) -> None:
    for bearer in ("", gateway.key, make_token(b"\x09" * 32), "nonsense"):
        answer = await call(gateway, path, bearer)
        assert (answer.status, code(answer)) == (401, "invalid_api_key")
        assert answer.headers["www-authenticate"] == "Bearer"
    answer = await call(gateway, path, x_api_key=TOKEN)
    assert answer.status == 401


async def test_an_admin_token_calls_no_model(gateway: RunningGateway) -> None:
    answer = await call(gateway, "/v1/models", TOKEN)
    assert answer.status == 401
    assert b"admin token" in answer.body


async def test_wrong_paths_methods_and_roles_are_refused(gateway: RunningGateway) -> None:
    assert code(await call(gateway, "/api/v1/nothing", TOKEN)) == "not_found"
    answer = await call(gateway, "/api/v1/routes", TOKEN, "DELETE")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    answer = await call(gateway, "/api/v1/routes", READER, "DELETE")
    assert (answer.status, code(answer)) == (403, "not_allowed")
    answer = await call(gateway, "/api/v1/routes", TOKEN, "HEAD")
    assert (answer.status, answer.body) == (200, b"")


async def test_metrics_from_elsewhere_need_an_admin_token(gateway: RunningGateway) -> None:
    assert (await call(gateway, "/metrics")).status == 200
    behind = {"x_forwarded_for": "203.0.113.7"}
    for bearer in ("", gateway.key):
        answer = await call(gateway, "/metrics", bearer, **behind)
        assert (answer.status, code(answer)) == (401, "invalid_api_key")
    answer = await call(gateway, "/metrics", READER, **behind)
    assert answer.status == 200
    assert b"zurelay_" in answer.body


async def test_the_folders_own_token_works_until_the_gateway_ends(tmp_path: Path) -> None:
    async with RunningGateway(tmp_path) as gateway:
        token, base_url = read(gateway.data) or ("", "")
        assert base_url == gateway.base_url
        assert (gateway.data / "admin-token").stat().st_mode & 0o777 == 0o600
        assert (await call(gateway, "/api/v1/routes", token)).status == 200
    assert read(gateway.data) is None


async def test_a_fault_of_ours_says_nothing_of_itself(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setitem(ENDPOINTS, "/routes", {"GET": fail})
    answer = await call(gateway, "/api/v1/routes", TOKEN)
    assert (answer.status, code(answer)) == (500, "internal_error")
    assert b"secret" not in answer.body
