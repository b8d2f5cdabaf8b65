from tests.admin.conftest import Admin
from zurelay.office.telling import Recipients
from zurelay.office.watching import Sighting, raise_seen

HOOK = "https://hooks.example.com/in"


async def test_where_alerts_go_is_set_read_and_tried(admin: Admin) -> None:
    path = "/accounts/default/alerts"
    assert (await admin.get(path, role="member"))["emails"] is None
    told = await admin.call("PUT", path, {"emails": ["ann@example.com"], "webhook": HOOK})
    assert told.status == 200
    assert told.json["secret"].startswith("whsec_")
    assert told.json["target"]["webhook"] == HOOK
    assert (await admin.get(path))["emails"] == ["ann@example.com"]
    assert (await admin.get(path, role="read-only"))["webhook"] == "https://hooks.example.com/…"
    renewed = await admin.post(f"{path}/secret")
    assert renewed["secret"] != told.json["secret"]
    assert await admin.post(f"{path}/test") == {"mails": 0, "webhook": True}  # no server of mail
    assert (await admin.call("POST", f"{path}/test")).status == 409
    told = await admin.call("PUT", path, {"webhook": "http://127.0.0.1/"})
    assert (told.status, told.error["param"]) == (400, "webhook")
    assert (await admin.call("PUT", path, {}, role="read-only")).status == 403
    assert (await admin.call("PUT", path, {}, role="member")).status == 200


async def test_alerts_are_listed_and_the_gateways_own_only_to_those_who_run_it(
    admin: Admin,
) -> None:
    seen = [Sighting("disk", f"n{n}", {"node": f"n{n}", "percent": 85}) for n in (1, 2)]
    raise_seen(admin.desk, seen, Recipients())
    listed = await admin.get("/alerts?kind=disk&open=true", role="read-only")
    assert {one["data"]["node"] for one in listed["data"]} == {"n1", "n2"}
    assert listed["data"][0]["open"] is True
    assert (await admin.get("/alerts?open=false"))["data"] == []
    assert (await admin.get("/alerts?account=default"))["data"] == []
    assert (await admin.get("/alerts", role="member"))["data"] == []
    first = await admin.get("/alerts?limit=1")
    rest = await admin.get(f"/alerts?limit=1&cursor={first['next_cursor']}")
    assert first["data"][0]["id"] != rest["data"][0]["id"]
    assert rest["next_cursor"] is None
