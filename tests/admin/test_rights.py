"""Whoever has no right learns nothing and changes nothing, by whatever path."""

from typing import Any

from sqlalchemy import select

from tests.admin.conftest import Admin
from zurelay.admin.application import ENDPOINTS
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.keys import NewKey, create_key
from zurelay.office.members import NewMember, add
from zurelay.office.rights import Actor
from zurelay.store import schema

OWNER = Actor("test", "owner")
RAISED: dict[str, Any] = {
    "budget": {"usd": "1000000", "period": "total"},
    "models": None,
    "rpm": None,
}
TRICKS = ("//keys", "/keys/", "/KEYS", "/keys/..;/keys", "/%6beys/", "/../v1/keys", "/keys//x")


def dump(admin: Admin) -> dict[str, list[Any]]:
    """Everything that says who may do what, and who has what."""
    tables = (
        schema.account,
        schema.member,
        schema.key,
        schema.admin_token,
        schema.wallet,
        schema.transfer,
        schema.price,
        schema.stop,
        schema.audit,
    )
    with admin.gateway.store.read() as connection:
        found = {}
        for table in tables:
            columns = [column for column in table.c if column.name != "last_used"]
            rows = connection.execute(select(*columns).order_by(*table.primary_key))
            found[table.name] = [tuple(row) for row in rows]
    return found


def theirs(admin: Admin) -> dict[str, str]:
    """What belongs to another account than the member's, by placeholder."""
    account = create_account(admin.desk, OWNER, NewAccount("team"))
    key = create_key(admin.desk, OWNER, NewKey("theirs", account="team", rpm=5))
    member = add(admin.desk, OWNER, "team", NewMember("ann@example.com", "Ann"))
    return {
        "account": account.id,
        "key": key.details.id,
        "member": member.id,
        "token": "owner",
        "request": "req_" + "0" * 32,
        "month": "2026-11",
    }


async def test_an_api_key_or_nothing_opens_no_endpoint(admin: Admin) -> None:
    names = theirs(admin)
    before = dump(admin)
    for endpoint in ENDPOINTS:
        path = endpoint.path.format(**names)
        for headers in (
            {},
            {"authorization": f"Bearer {admin.gateway.key}"},
            {"x-api-key": admin.gateway.key},
            {"cookie": "session=x"},
        ):
            answer = await admin.send(endpoint.method, path, b"{}", headers)
            assert answer.status == 401, (endpoint.name, headers)
    assert dump(admin) == before


async def test_others_things_do_not_exist_for_a_member(admin: Admin) -> None:
    names = theirs(admin)
    before = dump(admin)
    bodies = {
        "changeKey": RAISED,
        "rotateKey": {},
        "changeMember": {"role": "owner"},
        "addMember": {"email": "x@example.com", "name": "X", "role": "owner"},
        "creditAccount": {"amount_usd": "1000", "ref": "mine"},
        "debitAccount": {"amount_usd": "1000", "ref": "mine"},
        "changeAccount": RAISED,
    }
    for endpoint in ENDPOINTS:
        if "{" not in endpoint.path:
            continue
        unknown = {name: f"{value[:5]}_unknown" for name, value in names.items()}
        body = bodies.get(endpoint.name, {})
        told = [
            await admin.call(endpoint.method, endpoint.path.format(**ids), body, role="member")
            for ids in (names, unknown | {"month": "2026-11"})
        ]
        assert told[0].status in (403, 404), endpoint.name
        assert told[0].status == told[1].status, endpoint.name
        assert told[0].error["code"] == told[1].error["code"], endpoint.name
    assert dump(admin) == before


async def test_a_member_raises_nothing_of_its_own(admin: Admin) -> None:
    limited = NewKey("mine", rpm=5, models=["sandbox/echo"])
    create_key(admin.desk, OWNER, limited)
    before = dump(admin)
    for body in (
        {"rpm": 6},
        {"rpm": None},
        {"models": None},
        {"models": ["sandbox/*"]},
        {"account": "team"},
        {"owner": "x"},
        {"role": "admin"},
        {"spend": 0},
        {"temp_budget_increase": 10**9},
        {"markup": "0"},
        {"auto": {"allow": ["*"]}},
    ):
        answer = await admin.call("PATCH", "/keys/mine", body, role="member")
        assert answer.status in (400, 403), body
    headers = {
        "authorization": f"Bearer {admin.tokens['member']}",
        "x-http-method-override": "DELETE",
    }
    answer = await admin.send("POST", "/prices?_method=DELETE&model=x", b"{}", headers)
    assert answer.status in (403, 405)
    assert dump(admin) == before


async def test_no_other_spelling_of_a_path_leads_anywhere(admin: Admin) -> None:
    for path in TRICKS:
        for role in ("owner", "member"):
            answer = await admin.call("GET", path, role=role)
            assert answer.status == 404, path
