import json
from typing import Any

import msgspec
import pytest

from tests.admin.conftest import Admin
from zurelay.admin.views import RequestView
from zurelay.upstream.base import Call


@pytest.fixture
async def asked(admin: Admin) -> str:
    """The id of a request that a model answered, once it stands in the log."""
    body = {
        "model": "sandbox/echo",
        "messages": [{"role": "user", "content": "Hi"}],
        "user": "ann",
        "metadata": {"team": "docs"},
    }
    headers = (*admin.gateway.headers.items(), ("content-type", "application/json"))
    url = f"{admin.gateway.base_url}/v1/chat/completions"
    answer = await admin.client.fetch(Call("POST", url, headers, json.dumps(body).encode()))
    assert answer.status == 200
    id_: str = answer.headers["x-request-id"]
    while (await admin.call("GET", f"/requests/{id_}")).status != 200:
        pass
    return id_


async def ids(admin: Admin, query: str) -> list[str]:
    return [one["id"] for one in (await admin.get(f"/requests{query}"))["data"]]


async def test_requests_are_found_by_what_they_have(admin: Admin, asked: str) -> None:
    for query in (
        "",
        "?model=sandbox/echo",
        "?status=ok",
        "?user=ann",
        "?metadata[team]=docs",
        "?since=2020-01-01&until=2099-01-01T00:00:00Z",
        "?account=default",
        "?key=first%20key",
    ):
        assert await ids(admin, query) == [asked], query
    for query in ("?status=error", "?user=bob", "?metadata[team]=x", "?until=2020-01-01"):
        assert await ids(admin, query) == [], query
    for query, param in (
        ("?status=running", "status"),
        ("?since=soon", "since"),
        ("?cursor=x", "cursor"),
        ("?limit=0", "limit"),
    ):
        told = await admin.call("GET", f"/requests{query}")
        assert (told.status, told.error["param"]) == (400, param)


async def test_what_is_answered_is_what_the_description_says(admin: Admin, asked: str) -> None:
    for role in ("owner", "member"):
        told: Any = await admin.get(f"/requests/{asked}", role=role)
        view = msgspec.convert(told, RequestView)
        assert set(msgspec.to_builtins(view)) == set(told)
        assert ("address" in told) == (role == "owner")
        for attempt in told["attempts"]:
            assert ("route_id" in attempt) == (role == "owner")


async def test_usage_is_summed_in_all_ways(admin: Admin, asked: str) -> None:
    for by in ("model", "key", "account", "day"):
        (row,) = (await admin.get(f"/usage?by={by}"))["data"]
        assert row["requests"] == 1
    (row,) = (await admin.get("/usage/users"))["data"]
    assert (row["user"], row["requests"]) == ("ann", 1)
    (row,) = (await admin.get("/usage/providers"))["data"]
    assert (row["provider"], row["requests"]) == ("sandbox", 1)
    assert (await admin.call("GET", "/usage/providers", role="member")).status == 403
    assert (await admin.call("GET", "/usage?by=hour")).error["param"] == "by"


async def test_usage_goes_out_as_a_file(admin: Admin, asked: str) -> None:
    told = await admin.call("GET", "/usage/export")
    assert told.headers["content-type"] == "text/csv; charset=utf-8"
    assert told.body.decode().count("\r\n") == 2
    told = await admin.call("GET", "/usage/export?format=jsonl", role="member")
    assert told.headers["content-type"].startswith("application/x-ndjson")
    assert json.loads(told.body)["model"] == "sandbox/echo"


async def test_every_change_stands_in_the_audit_log(admin: Admin) -> None:
    await admin.post("/keys", {"name": "alice"}, role="admin")
    line, first = (await admin.get("/audit?action=key"))["data"]
    assert first["actor"] == "gateway"
    assert (line["action"], line["detail"]["name"]) == ("key.create", "alice")
    assert line["actor"].startswith("token:admin (tok_")
    made = await admin.get("/audit?action=token&limit=2")
    assert len(made["data"]) == 2
    assert made["next_cursor"]


async def test_personal_data_is_given_and_erased(admin: Admin, asked: str) -> None:
    told = await admin.call("GET", "/personal-data?user=ann")
    (line,) = [json.loads(line) for line in told.body.decode().splitlines()]
    assert (line["kind"], line["data"]["id"]) == ("request", asked)
    assert (await admin.call("GET", "/personal-data")).error["param"] == "account"
    assert (await admin.call("GET", "/personal-data?user=ann", role="admin")).status == 403
    assert (await admin.post("/personal-data/erase", {"user": "ann"}))["requests"] == 1
    assert (await admin.get(f"/requests/{asked}"))["user"] is None
