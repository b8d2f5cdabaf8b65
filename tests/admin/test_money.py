import csv
import io

from tests.admin.conftest import Admin
from tests.store.rows import a_record, entry
from zurelay.meter.wallets import balance_of
from zurelay.store.accounts import find_account
from zurelay.store.requests import add_requests
from zurelay.store.wallets import post


def used(admin: Admin, cost: int) -> str:
    """A request of the account `default` that has been charged."""
    with admin.gateway.store.write() as connection:
        account = find_account(connection, "default")
        assert account is not None
        record = a_record(
            admin.desk.clock(),
            account=account.id,
            cost=cost,
            postings={balance_of(account.id): cost},
        )
        add_requests(connection, [entry(record)])
        post(connection, "node", [record])
    return record.id


async def test_money_moves_once_per_ref(admin: Admin) -> None:
    body = {"amount_usd": "10", "ref": "inv-1", "note": "thanks"}
    first = await admin.post("/accounts/default/credits", body)
    assert await admin.post("/accounts/default/credits", body) == first
    await admin.post("/accounts/default/debits", {"amount_usd": "4", "ref": "out-1"})
    assert (await admin.get("/accounts/default"))["balance_usd"] == "6"
    told = await admin.call("POST", "/accounts/default/debits", body)
    assert (told.status, told.error["code"]) == (409, "ref_reused")
    listed = await admin.get("/transfers?account=default", role="member")
    assert [one["ref"] for one in listed["data"]] == ["out-1", "inv-1"]
    for name in ("amount_usd", "ref"):
        less = {key: value for key, value in body.items() if key != name}
        told = await admin.call("POST", "/accounts/default/credits", less)
        assert (told.status, told.error["param"]) == (400, name)


async def test_a_request_is_refunded(admin: Admin) -> None:
    id_ = used(admin, 2_000_000_000)
    made = await admin.post(f"/requests/{id_}/refunds", {})
    assert (made["amount_usd"], made["request"]) == ("2", id_)
    told = await admin.call("POST", f"/requests/{id_}/refunds", {"ref": "more"})
    assert told.status == 409
    assert (await admin.call("POST", "/requests/req_x/refunds", {})).status == 404


async def test_a_statement_is_json_or_a_file(admin: Admin) -> None:
    used(admin, 1_000_000_000)
    await admin.post("/accounts/default/credits", {"amount_usd": "3", "ref": "a", "note": "=1+1"})
    (month,) = (await admin.get("/accounts/default/statements"))["data"]
    path = f"/accounts/default/statements/{month['month']}"
    made = await admin.get(path, role="member")
    assert (made["charges_usd"], made["credits_usd"], made["closing_usd"]) == ("1", "3", "2")
    told = await admin.call("GET", f"{path}?format=csv")
    assert told.headers["content-type"] == "text/csv; charset=utf-8"
    assert f"{month['month']}.csv" in told.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(told.body.decode())))
    assert rows[-1]["amount_usd"] == "2"
    assert "'=1+1" in {row["note"] for row in rows}
    assert (await admin.call("GET", "/accounts/default/statements/2020-13")).status == 400


async def test_prices_are_set_and_taken_back(admin: Admin) -> None:
    price = {"model": "sandbox/echo", "price": {"input": "1.00", "output": "2.00"}}
    assert (await admin.call("PUT", "/prices", price)).json["since"] is None
    assert len((await admin.get("/prices?model=sandbox/echo"))["data"]) == 1
    told = await admin.call("PUT", "/prices", price | {"model": "sandbox/ecco"})
    assert (told.status, told.error["param"]) == (400, "model")
    assert "sandbox/echo" in told.error["message"]
    told = await admin.call("PUT", "/prices", price | {"price": {"input": "1"}})
    assert told.error["param"] == "price.output"
    assert (await admin.call("DELETE", "/prices?model=sandbox/echo")).json == {}
    assert (await admin.call("DELETE", "/prices?model=sandbox/echo")).status == 404
    assert (await admin.call("DELETE", "/prices")).error["param"] == "model"
