"""The admin API over HTTP, in a whole gateway."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.admin.conftest import Admin
from zurelay.access.tokens import make_token
from zurelay.admin import application
from zurelay.admin.application import ENDPOINTS
from zurelay.app.local_token import read
from zurelay.office.desk import Unavailable
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient


@pytest.mark.parametrize("path", ["/routes", "/nothing", "/openapi.json"])
async def test_without_a_good_token_nothing_is_told(admin: Admin, path: str) -> None:
    for bearer in ("", admin.gateway.key, make_token(b"\x09" * 32), "nonsense"):
        answer = await admin.send("GET", path, b"", {"authorization": f"Bearer {bearer}"})
        assert (answer.status, answer.error["code"]) == (401, "invalid_api_key")
        assert answer.headers["www-authenticate"] == "Bearer"
    answer = await admin.send("GET", path, b"", {"x-api-key": admin.tokens["owner"]})
    assert answer.status == 401
    assert (await admin.send("GET", path, b"", {})).status == 401


async def test_an_admin_token_calls_no_model(admin: Admin) -> None:
    headers = (("authorization", f"Bearer {admin.tokens['owner']}"),)
    call = Call("GET", f"{admin.gateway.base_url}/v1/models", headers, b"")
    answer = await admin.client.fetch(call)
    assert answer.status == 401
    assert b"admin token" in answer.body


async def test_wrong_paths_methods_and_roles_are_refused(admin: Admin) -> None:
    assert (await admin.call("GET", "/nothing")).error["code"] == "not_found"
    answer = await admin.call("DELETE", "/routes")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    answer = await admin.call("PUT", "/keys")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST, HEAD")
    answer = await admin.call("DELETE", "/routes", role="read-only")
    assert (answer.status, answer.error["code"]) == (403, "not_allowed")
    answer = await admin.call("HEAD", "/routes")
    assert (answer.status, answer.body) == (200, b"")


async def test_answers_are_kept_by_nobody_and_have_a_name(admin: Admin) -> None:
    answer = await admin.call("GET", "/keys")
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"


async def test_metrics_from_elsewhere_need_a_token_of_the_whole_gateway(admin: Admin) -> None:
    async def scrape(bearer: str, **behind: str) -> int:
        shown = (("authorization", f"Bearer {bearer}"), *behind.items())
        call = Call("GET", f"{admin.gateway.base_url}/metrics", shown, b"")
        return (await admin.client.fetch(call)).status

    assert await scrape("") == 200
    behind = {"x-forwarded-for": "203.0.113.7"}
    assert await scrape("", **behind) == 401
    assert await scrape(admin.gateway.key, **behind) == 401
    assert await scrape(admin.tokens["member"], **behind) == 403
    assert await scrape(admin.tokens["read-only"], **behind) == 200


async def test_the_folders_own_token_works_until_the_gateway_ends(tmp_path: Path) -> None:
    async with RunningGateway(tmp_path) as gateway, HttpClient() as client:
        token, base_url = read(gateway.data) or ("", "")
        assert base_url == gateway.base_url
        assert (gateway.data / "admin-token").stat().st_mode & 0o777 == 0o600
        shown = (("authorization", f"Bearer {token}"),)
        answer = await client.fetch(Call("GET", f"{base_url}/api/v1/routes", shown, b""))
        assert answer.status == 200
    assert read(gateway.data) is None


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the list of keys fail."""

    def fail(*_: object) -> None:
        raise error

    changed = tuple(replace(e, call=fail) if e.name == "listKeys" else e for e in ENDPOINTS)
    monkeypatch.setattr(application, "ENDPOINTS", changed)


async def test_a_fault_of_ours_says_nothing_of_itself(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, ZeroDivisionError("secret"))
    answer = await admin.call("GET", "/keys")
    assert (answer.status, answer.error["code"]) == (500, "internal_error")
    assert b"secret" not in answer.body


async def test_a_store_that_is_away_is_told_as_such(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, Unavailable("postgresql at secret-host: refused"))
    answer = await admin.call("GET", "/keys")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert b"secret-host" not in answer.body


async def test_every_endpoint_asks_for_its_right(admin: Admin) -> None:
    for endpoint in ENDPOINTS:
        if endpoint.right is None:
            continue
        path = endpoint.path.replace("{", "x-").replace("}", "")
        for role in ("admin", "member", "read-only"):
            allowed = role in application_roles(endpoint)
            answer = await admin.call(endpoint.method, path, {}, role=role)
            assert (answer.status != 403) == allowed, (endpoint.name, role, answer.body)


def application_roles(endpoint: object) -> list[str]:
    """Roles of the tokens in this test that may call it; the member's is of one account."""
    from zurelay.admin.openapi import roles
    from zurelay.office.rights import _EVERYWHERE

    found = roles(endpoint)  # type: ignore[arg-type]
    if endpoint.right in _EVERYWHERE:  # type: ignore[attr-defined]
        found = [role for role in found if role != "member"]
    return found


async def test_a_long_look_into_the_log_keeps_nobody_waiting(
    admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four threads of the admin API wait; keys are still read, models still answer."""
    import threading

    release = threading.Event()

    def wait(*_: object) -> dict[str, str]:
        release.wait(20)
        return {}

    changed = tuple(replace(e, call=wait) if e.name == "listKeys" else e for e in ENDPOINTS)
    monkeypatch.setattr(application, "ENDPOINTS", changed)
    waiting = [asyncio.create_task(admin.call("GET", "/keys")) for _ in range(8)]
    try:
        assert (await admin.call("GET", "/routes")).status == 200
        headers = tuple(admin.gateway.headers.items())
        call = Call("GET", f"{admin.gateway.base_url}/v1/models", headers, b"")
        assert (await admin.client.fetch(call)).status == 200
    finally:
        release.set()
    assert [told.status for told in await asyncio.gather(*waiting)] == [200] * 8
