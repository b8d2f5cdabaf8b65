import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, STRANGER, audited, refusal
from tests.store.rows import a_record, entry
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import Want, balance_of
from zurelay.office.accounts import AccountChange, change_account, get_account
from zurelay.office.desk import Desk
from zurelay.office.money import (
    Payment,
    RefundForm,
    credit,
    debit,
    list_transfers,
    refund,
    refundable,
)
from zurelay.office.pages import Page
from zurelay.store import schema
from zurelay.store.requests import add_requests
from zurelay.store.wallets import account_balance, draw, give_back

WALLET = balance_of(ACCOUNT.id)
DOLLAR = 10**9


def balance(desk: Desk) -> str:
    return get_account(desk, READER, "default").balance_usd


def ledger(desk: Desk) -> dict[str, int]:
    """The sum of every wallet by the ledger."""
    sums: dict[str, int] = {}
    with desk.store.read() as connection:
        for row in connection.execute(select(schema.entry)).mappings():
            sums[row["debit"]] = sums.get(row["debit"], 0) - row["amount"]
            sums[row["credit"]] = sums.get(row["credit"], 0) + row["amount"]
    return sums


def prepaid(desk: Desk) -> None:
    change_account(desk, OWNER, "default", AccountChange(prepaid=True))


def logged(desk: Desk, **changes: Any) -> RequestRecord:
    record = a_record(**changes)
    with desk.store.write() as connection:
        add_requests(connection, [entry(record)])
    return record


def leased(desk: Desk, amount: int) -> None:
    """All that is free goes to a node, as it does where one serves."""
    with desk.store.write() as connection:
        want = Want(account_balance(ACCOUNT.id), amount)
        draw(connection, "node", 1, [want], desk.clock(), alone=True)


def returned(desk: Desk, amount: int) -> Callable[[float], None]:
    """What a node does when it is asked while somebody waits."""

    def sleep(_: float) -> None:
        with desk.store.write() as connection:
            give_back(connection, "node", {WALLET: amount})

    return sleep


def test_a_credit_is_in_the_balance_the_ledger_and_the_audit_log(desk: Desk) -> None:
    made = credit(desk, ADMIN, "default", Payment("12.50", "inv-1", "thanks"))
    assert (made.kind, made.amount_usd, made.ref, made.note) == (
        "credit",
        "12.5",
        "inv-1",
        "thanks",
    )
    assert balance(desk) == "12.5"
    assert ledger(desk) == {"funding": -12_500_000_000, WALLET: 12_500_000_000}
    (line,) = audited(desk)
    assert (line.action, line.target, line.account) == ("balance.credit", made.id, ACCOUNT.id)
    assert line.detail["amount_usd"] == "12.5"


def test_a_repeat_moves_nothing_again(desk: Desk) -> None:
    first = credit(desk, ADMIN, "default", Payment("5", "inv-1"))
    again = credit(desk, OWNER, ACCOUNT.id, Payment("5.00", "inv-1"))
    assert again == first
    assert balance(desk) == "5"
    assert len(audited(desk)) == 1
    for call, form in (
        (credit, Payment("6", "inv-1")),
        (debit, Payment("5", "inv-1")),
    ):
        problem = refusal(call, desk, ADMIN, "default", form)
        assert (problem.status, problem.code, problem.param) == (409, "ref_reused", "ref")


def test_the_same_credit_from_many_at_once_is_one(desk: Desk) -> None:
    barrier = threading.Barrier(6)

    def pay(_: int) -> str:
        barrier.wait()
        return credit(desk, ADMIN, "default", Payment("1", "inv-1")).id

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(pay, range(6)))) == 1
    assert balance(desk) == "1"


def test_a_debit_never_takes_a_limited_balance_below_zero(desk: Desk) -> None:
    prepaid(desk)
    credit(desk, ADMIN, "default", Payment("5", "in"))
    made = debit(desk, ADMIN, "default", Payment("4", "out"))
    assert made.amount_usd == "-4"
    assert balance(desk) == "1"
    form = Payment("1.000000001", "more")
    problem = refusal(debit, desk, ADMIN, "default", form, sleep=lambda _: None)
    assert (problem.status, problem.param) == (409, "amount_usd")
    assert balance(desk) == "1"
    assert sum(ledger(desk).values()) == 0
    assert ledger(desk)[WALLET] == DOLLAR


def test_a_debit_gets_back_what_a_node_has_leased_and_does_not_use(desk: Desk) -> None:
    prepaid(desk)
    credit(desk, ADMIN, "default", Payment("5", "in"))
    leased(desk, DOLLAR)
    form = Payment("3", "out")
    assert refusal(debit, desk, ADMIN, "default", form, sleep=lambda _: None).status == 409
    debit(desk, ADMIN, "default", form, sleep=returned(desk, 4 * DOLLAR))
    assert balance(desk) == "2"
    with desk.store.read() as connection:
        assert connection.execute(select(schema.wallet.c.recalled)).scalar_one() == 2


def test_an_account_without_a_limit_may_owe(desk: Desk) -> None:
    debit(desk, ADMIN, "default", Payment("3", "setup"))
    assert balance(desk) == "-3"


def test_many_debits_at_once_take_no_more_than_there_is(desk: Desk) -> None:
    prepaid(desk)
    credit(desk, ADMIN, "default", Payment("3", "in"))

    def take(n: int) -> bool:
        try:
            debit(desk, ADMIN, "default", Payment("1", f"out-{n}"), sleep=lambda _: None)
        except Exception:  # noqa: BLE001 - refused
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 3
    assert balance(desk) == "0"


def test_a_refund_gives_back_the_charge_once(desk: Desk) -> None:
    record = logged(desk, cost=12_345)
    made = refund(desk, ADMIN, record.id, RefundForm())
    assert (made.kind, made.amount_usd, made.request) == ("refund", "0.000012345", record.id)
    assert refund(desk, ADMIN, record.id, RefundForm()) == made
    problem = refusal(refund, desk, ADMIN, record.id, RefundForm(ref="again"))
    assert problem.status == 409
    assert ledger(desk) == {"revenue": -12_345, WALLET: 12_345}
    assert audited(desk)[-1].detail["request"] == record.id


def test_parts_of_a_charge_are_refunded_until_nothing_is_left(desk: Desk) -> None:
    record = logged(desk, cost=100)
    part = RefundForm("0.00000006", "part-1")
    refund(desk, ADMIN, record.id, part)
    problem = refusal(refund, desk, ADMIN, record.id, RefundForm("0.00000005", "part-2"))
    assert (problem.status, problem.param) == (400, "amount_usd")
    assert "0.00000004" in problem.message
    rest = refund(desk, ADMIN, record.id, RefundForm(ref="part-2"))
    assert rest.amount_usd == "0.00000004"
    assert ledger(desk)[WALLET] == 100


def test_what_is_left_to_give_back_is_told(desk: Desk) -> None:
    record = logged(desk, cost=100)
    found = refundable(desk, READER, record.id)
    assert (found.account, found.charged_usd, found.left_usd) == (
        ACCOUNT.id,
        "0.0000001",
        "0.0000001",
    )
    part = refund(desk, ADMIN, record.id, RefundForm("0.00000006", "part-1"))
    found = refundable(desk, MEMBER, record.id)
    assert (found.left_usd, found.refunds) == ("0.00000004", [part])
    refund(desk, ADMIN, record.id, RefundForm(ref="part-2"))
    found = refundable(desk, READER, record.id)
    assert (found.left_usd, len(found.refunds)) == ("0", 2)
    assert refusal(refundable, desk, STRANGER, record.id).status == 404
    assert refusal(refundable, desk, READER, "req_" + "0" * 32).status == 404


def test_only_what_the_balance_paid_is_refunded(desk: Desk) -> None:
    record = logged(desk, cost=100, postings={WALLET: 70, "budget:key_1:total": 100})
    assert refund(desk, ADMIN, record.id, RefundForm()).amount_usd == "0.00000007"
    free = logged(desk, cost=0)
    assert refusal(refund, desk, ADMIN, free.id, RefundForm()).status == 409
    unknown = refusal(refund, desk, ADMIN, "req_" + "0" * 32, RefundForm())
    assert unknown.status == 404


def test_transfers_are_listed_newest_first_and_by_account(desk: Desk) -> None:
    refs = [credit(desk, ADMIN, "default", Payment("1", f"r{n}")).ref for n in range(5)]
    first = list_transfers(desk, READER, Page(3))
    rest = list_transfers(desk, READER, Page(3, first.next_cursor), "default")
    assert [one.ref for one in first.data + rest.data] == refs[::-1]
    assert [one.ref for one in list_transfers(desk, MEMBER, Page()).data] == refs[::-1]


def test_who_may_not_move_money_is_refused(desk: Desk) -> None:
    record = logged(desk)
    for actor in (MEMBER, READER):
        for call, wanted, form in (
            (credit, "default", Payment("1", "a")),
            (debit, "default", Payment("1", "b")),
            (refund, record.id, RefundForm()),
        ):
            assert refusal(call, desk, actor, wanted, form).status == 403
    assert ledger(desk) == {}


@pytest.mark.parametrize("call", [credit, debit])
def test_faults_name_their_field(desk: Desk, call: Callable[..., object]) -> None:
    for form, param in (
        (Payment("0", "a"), "amount_usd"),
        (Payment("-1", "a"), "amount_usd"),
        (Payment("1", "a", "b\n"), "note"),
    ):
        assert refusal(call, desk, ADMIN, "default", form).param == param
    assert refusal(call, desk, ADMIN, "nobody", Payment("1", "a")).status == 404
