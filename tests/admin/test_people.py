from tests.admin.conftest import Admin


async def test_an_account_is_made_changed_stopped_and_resumed(admin: Admin) -> None:
    made = await admin.call(
        "POST",
        "/accounts",
        {"name": "team", "prepaid": True, "budget": {"usd": "5", "period": "day"}},
    )
    assert made.status == 201
    id_ = made.json["id"]
    assert made.json["budget"] == {"usd": "5", "period": "day"}
    assert [one["name"] for one in (await admin.get("/accounts"))["data"]] == ["default", "team"]
    assert (await admin.get(f"/accounts/{id_}"))["name"] == "team"
    changed = await admin.call("PATCH", "/accounts/team", {"rpm": 5, "budget": None})
    assert (changed.json["rpm"], changed.json["budget"]) == (5, None)
    assert (await admin.post("/accounts/team/stop"))["stopped"]
    assert (await admin.post(f"/accounts/{id_}/resume"))["stopped"] is None
    again = await admin.call("POST", "/accounts", {"name": "team"})
    assert (again.status, again.error["param"]) == (409, "name")
    assert (await admin.call("GET", "/accounts/x")).status == 404
    assert (await admin.call("GET", "/accounts/a%00b")).status == 404


async def test_lists_come_in_pages(admin: Admin) -> None:
    for n in range(3):
        await admin.post("/accounts", {"name": f"a{n}"})
    first = await admin.get("/accounts?limit=2")
    rest = await admin.get(f"/accounts?limit=2&cursor={first['next_cursor']}")
    assert len({one["id"] for one in first["data"] + rest["data"]}) == 4
    assert rest["next_cursor"] is None
    assert rest["object"] == "list"
    told = await admin.call("GET", "/accounts?cursor=x")
    assert (told.status, told.error["param"]) == (400, "cursor")


async def test_members_come_change_and_go(admin: Admin) -> None:
    ann = {"email": "Ann@example.com", "name": "Ann"}
    made = await admin.post("/accounts/default/members", ann)
    path = f"/accounts/default/members/{made['id']}"
    assert (await admin.call("PATCH", path, {"role": "read-only"})).json["role"] == "read-only"
    assert len((await admin.get("/accounts/default/members", role="member"))["data"]) == 1
    boss = {"email": "b@example.com", "name": "B", "role": "owner"}
    assert (await admin.call("POST", "/accounts/default/members", boss, role="admin")).status == 403
    assert (await admin.call("DELETE", path)).status == 200
    assert (await admin.get("/accounts/default/members"))["data"] == []


async def test_tokens_are_made_and_revoked_at_once(admin: Admin) -> None:
    made = await admin.post("/tokens", {"name": "ci", "role": "read-only"})
    bearer = {"authorization": f"Bearer {made['token']}"}
    assert (await admin.send("GET", "/routes", b"", bearer)).status == 200
    assert made["token"] not in str(await admin.get("/tokens"))
    await admin.post(f"/tokens/{made['details']['id']}/revoke")
    assert (await admin.send("GET", "/routes", b"", bearer)).status == 401
    assert (await admin.call("POST", "/tokens", {"name": "x"}, role="admin")).status == 403
    assert (await admin.call("POST", "/tokens", {"name": "x", "role": "boss"})).status == 400
