import asyncio

from tests.admin.conftest import Admin
from zurelay.upstream.base import Call


async def asks(admin: Admin, key: str) -> int:
    """The status a model call with that key has, once the gateway had time to hear of it."""
    call = Call(
        "GET", f"{admin.gateway.base_url}/v1/key", (("authorization", f"Bearer {key}"),), b""
    )
    return (await admin.client.fetch(call)).status


async def until(admin: Admin, key: str, status: int) -> None:
    while await asks(admin, key) != status:
        await asyncio.sleep(0.02)


async def test_a_key_works_from_its_making_to_its_revoking(admin: Admin) -> None:
    made = await admin.call("POST", "/keys", {"name": "alice", "rpm": 5, "models": ["sandbox/*"]})
    assert made.status == 201
    key, id_ = made.json["key"], made.json["details"]["id"]
    assert await asks(admin, key) == 200
    changed = await admin.call("PATCH", f"/keys/{id_}", {"rpm": None, "expires": "2099-12-31"})
    assert (changed.json["rpm"], changed.json["expires"]) == (None, "2099-12-31")
    assert (await admin.post("/keys/alice/revoke"))["state"] == "revoked"
    await until(admin, key, 401)
    assert key not in str(await admin.get("/keys"))
    assert (await admin.call("PATCH", "/keys/alice", {"rpm": 1})).status == 409


async def test_a_renewed_key_works_with_both_texts_for_a_while(admin: Admin) -> None:
    old = (await admin.post("/keys", {"name": "alice"}))["key"]
    new = (await admin.post("/keys/alice/rotate", {"overlap_s": 3600}))["key"]
    await until(admin, new, 200)
    assert await asks(admin, old) == 200
    last = (await admin.post("/keys/alice/rotate", {"overlap_s": 0}))["key"]
    await until(admin, last, 200)
    await until(admin, old, 401)
    assert await asks(admin, new) == 401


async def test_a_stopped_accounts_keys_are_refused(admin: Admin) -> None:
    key = (await admin.post("/keys", {"name": "alice"}))["key"]
    assert await asks(admin, key) == 200
    await admin.post("/accounts/default/stop")
    await until(admin, key, 401)
    await admin.post("/accounts/default/resume")
    await until(admin, key, 200)


async def test_a_member_handles_the_keys_of_its_account(admin: Admin) -> None:
    await admin.post("/accounts", {"name": "team"})
    await admin.post("/keys", {"name": "theirs", "account": "team"})
    made = await admin.post("/keys", {"name": "mine"}, role="member")
    assert made["details"]["account_name"] == "default"
    seen = (await admin.get("/keys", role="member"))["data"]
    assert {one["name"] for one in seen} == {"first key", "mine"}
    assert (await admin.call("GET", "/keys/theirs", role="member")).status == 404
    told = await admin.call("POST", "/keys", {"name": "x", "account": "team"}, role="member")
    assert (told.status, told.error["param"]) == (400, "account")
    assert len((await admin.get("/keys?account=team"))["data"]) == 1
