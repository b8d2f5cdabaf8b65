"""Accounts and their terms: made, listed, changed, stopped and resumed.

Knows nothing of keys, and of money only what a balance is.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection

from zurelay.access.accounts import Account, Budget
from zurelay.meter.wallets import budget_wallet, zone_of
from zurelay.office import values as v
from zurelay.office.desk import Change, Desk, conflict, no_such
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.store.accounts import find_account
from zurelay.store.alerts import end_budget
from zurelay.store.terms import add_account, budget_columns, page_of_accounts
from zurelay.store.terms import change_account as write_account
from zurelay.store.wallets import (
    account_balance,
    add_available,
    balance,
    budget_left,
    change_budget,
    recall,
    spent_since,
)


class NewAccount(Struct, forbid_unknown_fields=True):
    """What an account is made of. Left out or null: no limit, or as the configuration says."""

    name: v.Name
    prepaid: bool | None = None
    budget: v.BudgetForm | None = None
    zone: v.Zone | None = None
    rpm: v.Rate | None = None
    tpm: v.Many | None = None
    concurrency: v.Rate | None = None
    markup: v.Markup | None = None


class AccountChange(Struct, forbid_unknown_fields=True):
    """What is to change of an account; null takes a limit away."""

    name: v.Name | UnsetType = UNSET
    prepaid: bool | UnsetType | None = UNSET
    budget: v.BudgetForm | UnsetType | None = UNSET
    zone: v.Zone | UnsetType | None = UNSET
    rpm: v.Rate | UnsetType | None = UNSET
    tpm: v.Many | UnsetType | None = UNSET
    concurrency: v.Rate | UnsetType | None = UNSET
    markup: v.Markup | UnsetType | None = UNSET


class AccountView(Struct):
    """An account.

    `balance_usd` is what was paid in and not spent; below zero it is owed. `budget_left_usd` is of
    the period that runs. `stopped`: since when its keys are refused. `markup` is told to those
    alone who may know it: see `Actor.sees_markups`.
    """

    id: str
    name: str
    created: str
    prepaid: bool | None
    budget: v.BudgetView | None
    zone: str | None
    rpm: int | None
    tpm: int | None
    concurrency: int | None
    markup: str | None
    stopped: str | None
    balance_usd: str
    budget_left_usd: str | None


def create_account(desk: Desk, actor: Actor, form: NewAccount) -> AccountView:
    """Make an account.

    Raises:
        Refused: 400, 403; 409 where an account has that name.
    """
    with desk.change(actor, "accounts.change") as change:
        v.name_of(form.name)
        if find_account(change.connection, form.name) is not None:
            raise conflict(f"There is an account '{form.name}' already.", "name")
        account = Account(
            id=desk.random_id("acct_"),
            name=form.name,
            created=int(change.now),
            prepaid=form.prepaid,
            budget=v.budget_of(form.budget),
            zone=v.zone_name(form.zone),
            rpm=form.rpm,
            tpm=form.tpm,
            concurrency=form.concurrency,
            markup=v.markup_of(form.markup),
        )
        add_account(change.connection, account)
        change.did("account.create", account.id, account.id, terms(account))
        return view(desk, change.connection, actor, account)


def list_accounts(desk: Desk, actor: Actor, page: Page) -> Listed[AccountView]:
    """Accounts, oldest first."""
    with desk.read(actor, "accounts.read") as connection:
        found = page_of_accounts(connection, actor.account, page.after, page.limit + 1)
        return listed(
            page,
            found,
            lambda account: (account.created, account.id),
            lambda account: view(desk, connection, actor, account),
        )


def get_account(desk: Desk, actor: Actor, wanted: str) -> AccountView:
    """The account of that id or name. Raises Refused: 403, 404."""
    with desk.read(actor, "accounts.read") as connection:
        return view(desk, connection, actor, the_account(connection, actor, wanted))


def change_account(desk: Desk, actor: Actor, wanted: str, form: AccountChange) -> AccountView:
    """Change its terms; a budget's new size counts from the period that runs.

    Raises:
        Refused: 400, 403, 404; 409 where another account has that name.
    """
    with desk.change(actor, "accounts.change") as change:
        account = the_account(change.connection, actor, wanted)
        columns = _columns(change, account, form)
        if not columns:
            change.did_nothing()
            return view(desk, change.connection, actor, account)
        write_account(change.connection, account.id, columns)
        new = the_account(change.connection, actor, account.id)
        resize_budget(change, desk, new, new.id, account.budget, new.budget)
        before, after = terms(account), terms(new)
        changed = {name: [before[name], after[name]] for name in after}
        detail = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
        change.did("account.change", account.id, account.id, detail)
        return view(desk, change.connection, actor, new)


def stop_account(desk: Desk, actor: Actor, wanted: str) -> AccountView:
    """Refuse its keys from now on, on every node within a second. Raises Refused: 403, 404."""
    return _set_stopped(desk, actor, wanted, stopped=True)


def resume_account(desk: Desk, actor: Actor, wanted: str) -> AccountView:
    """Take its keys again. Raises Refused: 403, 404."""
    return _set_stopped(desk, actor, wanted, stopped=False)


# For other use cases.


def the_account(connection: Connection, actor: Actor, wanted: str) -> Account:
    """The account of that id or name, if it exists for the actor. Raises Refused: 404."""
    found = find_account(connection, wanted)
    if found is None or not actor.sees(found.id):
        raise no_such("account", wanted)
    return found


def resize_budget(
    change: Change,
    desk: Desk,
    account: Account,
    owner: str,
    old: Budget | None,
    new: Budget | None,
) -> None:
    """Let a budget that was made smaller or larger hold in the period that runs."""
    if old == new:
        return
    end_budget(change.connection, account.id, owner, change.now_ms)
    if new is None:
        return
    zone = zone_of(account, desk.zone())
    wallet, _ = budget_wallet(account.id, owner, new, change.now, zone)
    connection = change.connection
    change_budget(connection, owner, wallet.period, new.usd)
    if old is not None and old.period == new.period:
        # A node that has not heard of the change yet would make it of the old size.
        add_available(connection, wallet, 0)
    else:
        # One of this period may be there from before, and not know what was spent meanwhile.
        key = None if owner == account.id else owner
        left = new.usd - spent_since(connection, wallet.since, account.id, key)
        stale = left - budget_left(connection, wallet)
        if stale:
            add_available(connection, wallet, stale)
    recall(connection, wallet.id)


def left_of(
    desk: Desk, connection: Connection, account: Account, owner: str, budget: Budget | None
) -> int | None:
    """Nano-dollars left of a budget in the period that runs; None without a budget."""
    if budget is None:
        return None
    now = desk.clock()
    wallet, _ = budget_wallet(account.id, owner, budget, now, zone_of(account, desk.zone()))
    return max(0, budget_left(connection, wallet))


def needs_balance(desk: Desk, account: Account) -> bool:
    """Whether it may only spend what was paid in."""
    return desk.prepaid() if account.prepaid is None else account.prepaid


def view(desk: Desk, connection: Connection, actor: Actor, account: Account) -> AccountView:
    """An account as it is shown."""
    return AccountView(
        id=account.id,
        name=account.name,
        created=v.iso_of(account.created),
        prepaid=account.prepaid,
        budget=v.budget_view(account.budget),
        zone=account.zone,
        rpm=account.rpm,
        tpm=account.tpm,
        concurrency=account.concurrency,
        markup=account.markup if actor.sees_markups else None,
        stopped=v.iso(account.stopped),
        balance_usd=v.usd_of(balance(connection, account_balance(account.id).id)),
        budget_left_usd=v.usd(left_of(desk, connection, account, account.id, account.budget)),
    )


def terms(account: Account) -> dict[str, Any]:
    """What can be changed of an account, for the audit log."""
    return {
        "name": account.name,
        "prepaid": account.prepaid,
        "budget": v.budget_view(account.budget),
        "zone": account.zone,
        "rpm": account.rpm,
        "tpm": account.tpm,
        "concurrency": account.concurrency,
        "markup": account.markup,
    }


# Our own.


def _columns(change: Change, account: Account, form: AccountChange) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: value
        for name in ("prepaid", "rpm", "tpm", "concurrency")
        if (value := getattr(form, name)) is not UNSET
    }
    if form.name is not UNSET and form.name != account.name:
        other = find_account(change.connection, v.name_of(form.name))
        if other is not None and other.id != account.id:
            raise conflict(f"There is an account '{form.name}' already.", "name")
        columns["name"] = form.name
    if form.budget is not UNSET:
        columns |= budget_columns(v.budget_of(form.budget))
    if form.zone is not UNSET:
        columns["zone"] = v.zone_name(form.zone)
    if form.markup is not UNSET:
        columns["markup"] = v.markup_of(form.markup)
    return columns


def _set_stopped(desk: Desk, actor: Actor, wanted: str, *, stopped: bool) -> AccountView:
    with desk.change(actor, "accounts.change") as change:
        account = the_account(change.connection, actor, wanted)
        if (account.stopped is not None) == stopped:
            change.did_nothing()
            return view(desk, change.connection, actor, account)
        columns = {"stopped": int(change.now) if stopped else None}
        write_account(change.connection, account.id, columns)
        action = "account.stop" if stopped else "account.resume"
        change.did(action, account.id, account.id, {"name": account.name})
        return view(
            desk, change.connection, actor, the_account(change.connection, actor, account.id)
        )
