"""Money that people move: credits, debits, and refunds of requests.

Each is done once per `ref`, however often it is asked for, and stands in the ledger on both sides.
"""

import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from zurelay.access.accounts import Account
from zurelay.chat.problems import Problem, Refused
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import FUNDING, REVENUE, balance_of
from zurelay.office import values as v
from zurelay.office.accounts import needs_balance, the_account
from zurelay.office.desk import Change, Desk, conflict, no_such, wrong
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.store.alerts import note_credit
from zurelay.store.requests import get_request
from zurelay.store.transfers import (
    Transfer,
    add_transfer,
    find_transfer,
    refunded,
    take_available,
    transfers_of,
)
from zurelay.store.transfers import list_transfers as read_transfers
from zurelay.store.wallets import account_balance, add_available, add_entry, recall

RETURN_S: Final = 3.0
"""How long a debit waits for nodes to return what they have leased and do not use."""

_PAUSE_S: Final = 0.1


class Payment(Struct, forbid_unknown_fields=True):
    """An amount to add to a balance, or to take from it."""

    amount_usd: v.Usd
    ref: v.Ref
    note: v.Note = ""


class RefundForm(Struct, forbid_unknown_fields=True):
    """What to give back of a request; without an amount all that is left of its charge."""

    amount_usd: v.Usd | None = None
    ref: v.Ref | None = None
    note: v.Note = ""


class TransferView(Struct):
    """Money that was moved. `amount_usd` is what the balance gained; a debit's is below zero."""

    id: str
    created: str
    account: str
    kind: str
    amount_usd: str
    request: str | None
    ref: str
    note: str
    actor: str


class RefundableView(Struct):
    """What a request cost its account, what of that is left to give back, and what was given."""

    request: str
    account: str
    account_name: str
    charged_usd: str
    left_usd: str
    refunds: list[TransferView]


def credit(desk: Desk, actor: Actor, wanted: str, form: Payment) -> TransferView:
    """Add to an account's balance.

    Raises:
        Refused: 400, 403, 404; 409 where `ref` belongs to another transfer.
    """
    amount = v.amount_of(form.amount_usd, "amount_usd", positive=True)
    v.note_of(form.note)
    v.ref_of(form.ref)
    with desk.change(actor, "money.change") as change:
        account = the_account(change.connection, actor, wanted)
        transfer = _transfer(change, account, "credit", amount, form.ref, form.note)
        return view(_once(change, transfer) or _move(change, desk, account, transfer))


def debit(
    desk: Desk,
    actor: Actor,
    wanted: str,
    form: Payment,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> TransferView:
    """Take from an account's balance.

    A balance that limits what its account may spend never goes below zero by it. What nodes have
    leased of it is asked back first, which takes up to `RETURN_S`.

    Raises:
        Refused: 400, 403, 404; 409 where `ref` belongs to another transfer, or not enough is
            there or free.
    """
    amount = v.amount_of(form.amount_usd, "amount_usd", positive=True)
    v.note_of(form.note)
    v.ref_of(form.ref)
    tries = int(RETURN_S / _PAUSE_S)
    for left in reversed(range(tries + 1)):
        with desk.change(actor, "money.change") as change:
            account = the_account(change.connection, actor, wanted)
            transfer = _transfer(change, account, "debit", -amount, form.ref, form.note)
            done = _once(change, transfer)
            if done is not None:
                return view(done)
            wallet = account_balance(account.id).id
            if not needs_balance(desk, account):
                return view(_move(change, desk, account, transfer))
            if take_available(change.connection, wallet, amount):
                return view(_move(change, desk, account, transfer, taken=True))
            if left == tries:
                recall(change.connection, wallet)
            change.did_nothing()
        sleep(_PAUSE_S)
    raise conflict(
        "The balance has not that much, or running requests hold it; see the account's"
        " 'balance_usd', and try again.",
        "amount_usd",
    )


def refund(desk: Desk, actor: Actor, request_id: str, form: RefundForm) -> TransferView:
    """Give back what a request cost, or a part of it; never more than it cost in all.

    Raises:
        Refused: 400, 403; 404 for a request that is not in the log; 409 where `ref` belongs to
            another transfer, or nothing is left to give back.
    """
    v.note_of(form.note)
    if form.ref is not None:
        v.ref_of(form.ref)
    asked = None
    if form.amount_usd is not None:
        asked = v.amount_of(form.amount_usd, "amount_usd", positive=True)
    with desk.change(actor, "money.change") as change:
        record = get_request(change.connection, request_id, actor.account)
        if record is None:
            raise no_such("request", request_id)
        account = the_account(change.connection, actor, record.account)
        ref = form.ref or f"refund:{record.id}"
        earlier = find_transfer(change.connection, ref)
        if earlier is not None:
            amount = earlier.amount if asked is None else asked
        else:
            amount = _refundable(change, record, asked)
        transfer = _transfer(change, account, "refund", amount, ref, form.note, record.id)
        return view(_once(change, transfer) or _move(change, desk, account, transfer))


def refundable(desk: Desk, actor: Actor, request_id: str) -> RefundableView:
    """How a request stands before a refund. Raises Refused: 403, 404."""
    with desk.read(actor, "money.read") as connection:
        record = get_request(connection, request_id, actor.account)
        if record is None:
            raise no_such("request", request_id)
        account = the_account(connection, actor, record.account)
        given = transfers_of(connection, record.id)
        left = charged(record) - sum(one.amount for one in given)
        return RefundableView(
            request=record.id,
            account=account.id,
            account_name=account.name,
            charged_usd=v.usd_of(charged(record)),
            left_usd=v.usd_of(max(0, left)),
            refunds=[view(one) for one in given],
        )


def list_transfers(
    desk: Desk, actor: Actor, page: Page, account: str | None = None
) -> Listed[TransferView]:
    """What people moved, newest first; of one account (id or name) if given."""
    with desk.read(actor, "money.read") as connection:
        only = actor.account
        if account is not None:
            only = the_account(connection, actor, account).id
        found = read_transfers(connection, only, page.after, page.limit + 1)
        return listed(page, found, lambda one: (one.at_ms, one.id), view)


def charged(record: RequestRecord) -> int:
    """Nano-dollars that a request took from its account's balance."""
    if record.postings:
        return record.postings.get(balance_of(record.account), 0)
    return record.cost


def view(transfer: Transfer) -> TransferView:
    """A transfer as it is shown."""
    return TransferView(
        id=transfer.id,
        created=v.iso_of(transfer.at_ms / 1000),
        account=transfer.account,
        kind=transfer.kind,
        amount_usd=v.usd_of(transfer.amount),
        request=transfer.request,
        ref=transfer.ref,
        note=transfer.note,
        actor=transfer.actor,
    )


# Our own.


def _transfer(
    change: Change,
    account: Account,
    kind: str,
    amount: int,
    ref: str,
    note: str,
    request: str | None = None,
) -> Transfer:
    id_ = change.desk.new_id("xfer_")
    name = change.actor.name[:200]
    return Transfer(id_, change.now_ms, account.id, kind, amount, request, ref, note, name)


def _once(change: Change, transfer: Transfer) -> Transfer | None:
    """The transfer that was made under this `ref` already; None if there is none.

    Raises:
        Refused: 409 where it was another one.
    """
    earlier = find_transfer(change.connection, transfer.ref)
    if earlier is None:
        return None
    same = ("account", "kind", "amount", "request")
    if any(getattr(earlier, name) != getattr(transfer, name) for name in same):
        message = f"The ref '{v.shown(transfer.ref)}' belongs to another transfer."
        raise Refused(Problem(409, "invalid_request_error", "ref_reused", message, "ref"))
    change.did_nothing()
    return earlier


def _move(
    change: Change, desk: Desk, account: Account, transfer: Transfer, *, taken: bool = False
) -> Transfer:
    """Write the transfer, both sides of it, and the balance unless it is `taken` already."""
    connection, amount = change.connection, transfer.amount
    wallet = account_balance(account.id, limited=needs_balance(desk, account))
    other = REVENUE if transfer.kind == "refund" else FUNDING
    debit_side, credit_side = (other, wallet.id) if amount > 0 else (wallet.id, other)
    add_transfer(connection, transfer)
    add_entry(connection, transfer.at_ms, transfer.id, debit_side, credit_side, abs(amount))
    if not taken:
        add_available(connection, wallet, amount)
    if transfer.kind == "credit":
        note_credit(connection, wallet.id, transfer.at_ms)
    change.did(
        f"balance.{transfer.kind}",
        transfer.id,
        account.id,
        {
            "amount_usd": v.usd_of(amount),
            "ref": transfer.ref,
            "note": transfer.note,
            "request": transfer.request,
        },
    )
    return transfer


def _refundable(change: Change, record: RequestRecord, asked: int | None) -> int:
    """How much is given back. Raises Refused."""
    left = charged(record) - refunded(change.connection, record.id)
    if left <= 0:
        raise conflict("Nothing is left of this request's charge to give back.")
    if asked is not None and asked > left:
        raise wrong("amount_usd", f"amount_usd: of this request's charge {v.usd_of(left)} is left.")
    return left if asked is None else asked
