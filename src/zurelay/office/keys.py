"""API keys: made, listed, changed, revoked, and their texts renewed.

A key's text is given once, when it is made or renewed, and kept nowhere.
"""

from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import Connection

from zurelay.access.accounts import Account
from zurelay.access.keys import CONSOLE_ID, RANDOM_BYTES, Key, hash_key, last4, make_key
from zurelay.chat.problems import Problem, Refused, not_found
from zurelay.meter.wallets import period_at, zone_of
from zurelay.office import values as v
from zurelay.office.accounts import left_of, resize_budget, the_account
from zurelay.office.desk import Change, Desk, conflict, no_such, wrong
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.office.widening import widened
from zurelay.store.accounts import find_account
from zurelay.store.content import shorten
from zurelay.store.errors import StoreError
from zurelay.store.keys import add_key, auto_column, find_key
from zurelay.store.keys import revoke_key as write_revoked
from zurelay.store.terms import add_account, budget_columns, page_of_keys
from zurelay.store.terms import change_key as write_key
from zurelay.store.wallets import spent_since

OVERLAP_S: Final = 86_400
"""How long a key's old text works after it was renewed, where nothing else is asked for."""


class NewKey(Struct, forbid_unknown_fields=True):
    """What a key is made of. Left out or null: no limit. `expires` is the last day it works."""

    name: v.Name
    account: v.Name = "default"
    models: v.Models | None = None
    budget: v.BudgetForm | None = None
    rpm: v.Rate | None = None
    tpm: v.Many | None = None
    concurrency: v.Rate | None = None
    expires: v.Day | None = None
    markup: v.Markup | None = None
    auto: v.AutoForm | None = None
    store_days: v.StoreDays | None = None


class KeyChange(Struct, forbid_unknown_fields=True):
    """What is to change of a key; null takes a limit away."""

    name: v.Name | UnsetType = UNSET
    models: v.Models | UnsetType | None = UNSET
    budget: v.BudgetForm | UnsetType | None = UNSET
    rpm: v.Rate | UnsetType | None = UNSET
    tpm: v.Many | UnsetType | None = UNSET
    concurrency: v.Rate | UnsetType | None = UNSET
    expires: v.Day | UnsetType | None = UNSET
    markup: v.Markup | UnsetType | None = UNSET
    auto: v.AutoForm | UnsetType | None = UNSET
    store_days: v.StoreDays | UnsetType | None = UNSET


class Rotation(Struct, forbid_unknown_fields=True):
    """How long the old text works beside the new one; 0 ends it at once."""

    overlap_s: Annotated[int, Meta(ge=0, le=30 * 86_400)] = OVERLAP_S


class KeyView(Struct):
    """A key; never its text. Spent and left are of its budget's period, else of all time.

    `markup` is told to those alone who may know it: see `Actor.sees_markups`.
    """

    id: str
    name: str
    account: str
    account_name: str
    last4: str
    state: str
    created: str
    expires: str | None
    revoked: str | None
    last_used: str | None
    models: list[str] | None
    budget: v.BudgetView | None
    rpm: int | None
    tpm: int | None
    concurrency: int | None
    markup: str | None
    spent_usd: str
    remaining_usd: str | None
    old_text_until: str | None
    auto: v.AutoForm | None = None
    store_days: int | None = None


class MadeKey(Struct):
    """A key and its text, which is shown this once."""

    key: str
    details: KeyView


def create_key(desk: Desk, actor: Actor, form: NewKey, *, make_account: bool = False) -> MadeKey:
    """Make a key.

    Args:
        desk: where.
        actor: who.
        form: what.
        make_account: make its account too, if there is none.

    Raises:
        Refused: 400, 403, 404.
    """
    with desk.change(actor, "keys.change") as change:
        _operators_own(actor, form.markup, form.auto)
        _storable(desk, None, form.store_days)
        account = _account_for(desk, change, form.account, make=make_account)
        text = make_key(desk.random(RANDOM_BYTES))
        key = Key(
            id=desk.random_id("key_"),
            name=v.name_of(form.name),
            account=account.id,
            account_name=account.name,
            hash=hash_key(text),
            last4=last4(text),
            created=int(change.now),
            models=v.models_of(form.models),
            expires=v.last_day(form.expires, change.now),
            budget=v.budget_of(form.budget),
            rpm=form.rpm,
            tpm=form.tpm,
            concurrency=form.concurrency,
            markup=v.markup_of(form.markup),
            owner=account,
            auto=v.auto_of(form.auto),
            store_days=form.store_days,
        )
        add_key(change.connection, key)
        change.did("key.create", key.id, key.account, terms(key))
        return MadeKey(text, view(desk, change.connection, actor, key))


def list_keys(desk: Desk, actor: Actor, page: Page, account: str | None = None) -> Listed[KeyView]:
    """Keys, oldest first, revoked and expired ones too; of one account (id or name) if given."""
    with desk.read(actor, "keys.read") as connection:
        only = actor.account
        if account is not None:
            only = the_account(connection, actor, account).id
        found = page_of_keys(connection, only, page.after, page.limit + 1)
        return listed(
            page,
            found,
            lambda key: (key.created, key.id),
            lambda key: view(desk, connection, actor, key),
        )


def get_key(desk: Desk, actor: Actor, wanted: str) -> KeyView:
    """The key of that id, beginning of an id, or name. Raises Refused: 403, 404."""
    with desk.read(actor, "keys.read") as connection:
        return view(desk, connection, actor, the_key(connection, actor, wanted))


def change_key(desk: Desk, actor: Actor, wanted: str, form: KeyChange) -> KeyView:
    """Change a key's limits; a budget's new size counts from the period that runs.

    An actor of one account may make limits narrower, not wider.

    Raises:
        Refused: 400, 403, 404; 409 for a revoked key.
    """
    with desk.change(actor, "keys.change") as change:
        key = the_key(change.connection, actor, wanted)
        _not_revoked(key)
        given = [one or "none" for one in (form.markup, form.auto) if one is not UNSET]
        _operators_own(actor, *given)
        if form.store_days is not UNSET:
            _storable(desk, key.store_days, form.store_days)
        columns = _columns(change, form)
        if not columns:
            change.did_nothing()
            return view(desk, change.connection, actor, key)
        write_key(change.connection, key.id, columns)
        new = find_key(change.connection, key.id)
        _not_wider(actor, key, new)
        if new.store_days is not None:
            shorten(change.connection, key.id, new.store_days)
        if new.owner is not None:
            resize_budget(change, desk, new.owner, new.id, key.budget, new.budget)
        before, after = terms(key), terms(new)
        detail = {
            name: [before[name], after[name]] for name in after if before[name] != after[name]
        }
        change.did("key.change", key.id, key.account, detail)
        return view(desk, change.connection, actor, new)


def revoke_key(desk: Desk, actor: Actor, wanted: str) -> KeyView:
    """Revoke a key for ever, on every node within a second. Raises Refused: 403, 404."""
    with desk.change(actor, "keys.change") as change:
        key = the_key(change.connection, actor, wanted)
        if key.revoked is not None:
            change.did_nothing()
            return view(desk, change.connection, actor, key)
        revoked = write_revoked(change.connection, key.id, change.now)
        change.did("key.revoke", key.id, key.account, {"name": key.name, "last4": key.last4})
        return view(desk, change.connection, actor, revoked)


def rotate_key(desk: Desk, actor: Actor, wanted: str, overlap_s: int = OVERLAP_S) -> MadeKey:
    """Give a key a new text; the old one works on for a time. All else stays: id, budget, limits.

    Raises:
        Refused: 403, 404; 409 for a revoked key, one renewed so lately that two texts work, or
            one of the console.
    """
    with desk.change(actor, "keys.change") as change:
        key = the_key(change.connection, actor, wanted)
        _not_revoked(key)
        if key.id.startswith(CONSOLE_ID):
            raise conflict("The console asks models with this key; nobody is given its text.")
        if key.previous_until is not None and key.previous_until > change.now and overlap_s:
            raise conflict(
                f"The text before the present one works until {v.iso(key.previous_until)}; wait"
                " for that, or renew it without an overlap, which ends both."
            )
        text = make_key(desk.random(RANDOM_BYTES))
        write_key(
            change.connection,
            key.id,
            {
                "hash": hash_key(text),
                "last4": last4(text),
                "previous_hash": key.hash if overlap_s else None,
                "previous_until": int(change.now) + overlap_s if overlap_s else None,
            },
        )
        new = find_key(change.connection, key.id)
        detail = {"name": key.name, "overlap_s": overlap_s, "last4": [key.last4, new.last4]}
        change.did("key.rotate", key.id, key.account, detail)
        return MadeKey(text, view(desk, change.connection, actor, new))


# For other use cases.


def the_key(connection: Connection, actor: Actor, wanted: str) -> Key:
    """The key of that id, beginning of an id, or name, if it exists for the actor.

    Raises:
        Refused: 404.
    """
    try:
        key = find_key(connection, wanted)
    except StoreError as error:
        if actor.account is not None:
            raise no_such("key", wanted) from None
        said = str(error).partition(";")[0]
        raise Refused(not_found(f"{said[:1].upper()}{said[1:]}.")) from None
    if not actor.sees(key.account):
        raise no_such("key", wanted)
    return key


def spent_of(desk: Desk, connection: Connection, key: Key) -> int:
    """Nano-dollars it spent in its budget's period, or ever."""
    since = 0
    if key.budget is not None:
        zone = zone_of(key.owner, desk.zone())
        since = period_at(key.budget.period, desk.clock(), zone)[1]
    return spent_since(connection, since, key.account, key.id)


def view(desk: Desk, connection: Connection, actor: Actor, key: Key) -> KeyView:
    """A key as the actor is shown it."""
    now = desk.clock()
    left = None
    if key.owner is not None:
        left = left_of(desk, connection, key.owner, key.id, key.budget)
    old = key.previous_until
    return KeyView(
        id=key.id,
        name=key.name,
        account=key.account,
        account_name=key.account_name,
        last4=key.last4,
        state=key.state(now),
        created=v.iso_of(key.created),
        expires=v.day_before(key.expires),
        revoked=v.iso(key.revoked),
        last_used=v.iso(key.last_used),
        models=None if key.models is None else list(key.models),
        budget=v.budget_view(key.budget),
        rpm=key.rpm,
        tpm=key.tpm,
        concurrency=key.concurrency,
        markup=key.markup if actor.sees_markups else None,
        spent_usd=v.usd_of(spent_of(desk, connection, key)),
        remaining_usd=v.usd(left),
        old_text_until=v.iso(old) if old is not None and old > now else None,
        auto=v.auto_view(key.auto),
        store_days=key.store_days,
    )


def terms(key: Key) -> dict[str, Any]:
    """What can be changed of a key, for the audit log."""
    return {
        "name": key.name,
        "models": None if key.models is None else list(key.models),
        "budget": v.budget_view(key.budget),
        "rpm": key.rpm,
        "tpm": key.tpm,
        "concurrency": key.concurrency,
        "expires": v.day_before(key.expires),
        "markup": key.markup,
        "auto": v.auto_view(key.auto),
        "store_days": key.store_days,
    }


# Our own.


def _account_for(desk: Desk, change: Change, wanted: str, *, make: bool) -> Account:
    found = find_account(change.connection, wanted)
    if found is not None and change.actor.sees(found.id):
        return found
    if found is not None or not make:
        raise wrong("account", f"account: there is no account '{v.shown(wanted)}'.")
    change.actor.needs("accounts.change")
    account = Account(desk.random_id("acct_"), v.name_of(wanted, "account"), int(change.now))
    add_account(change.connection, account)
    change.did("account.create", account.id, account.id, {"name": account.name})
    return account


def _columns(change: Change, form: KeyChange) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: value
        for name in ("rpm", "tpm", "concurrency", "store_days")
        if (value := getattr(form, name)) is not UNSET
    }
    if form.name is not UNSET:
        columns["name"] = v.name_of(form.name)
    if form.models is not UNSET:
        models = v.models_of(form.models)
        columns["models"] = None if models is None else msgspec.json.encode(models).decode()
    if form.budget is not UNSET:
        columns |= budget_columns(v.budget_of(form.budget))
    if form.expires is not UNSET:
        columns["expires"] = v.last_day(form.expires, change.now)
    if form.markup is not UNSET:
        columns["markup"] = v.markup_of(form.markup)
    if form.auto is not UNSET:
        columns["auto"] = auto_column(v.auto_of(form.auto))
    return columns


def _operators_own(actor: Actor, *terms: object) -> None:
    """Whoever is confined to an account makes neither its prices nor the rules of the choice."""
    if any(one is not None for one in terms):
        actor.needs("accounts.change")


def _not_wider(actor: Actor, old: Key, new: Key) -> None:
    """Whoever is confined to an account takes no limit away that somebody set."""
    more = widened(old, new)
    if more is not None and not actor.may("accounts.change"):
        message = f"{more}: only those who run the gateway may let a key do more than it could."
        raise Refused(Problem(403, "permission_error", "not_allowed", message, more))


def _storable(desk: Desk, old: int | None, new: int | None) -> None:
    """Whether a key's messages may be stored for so many days.

    Whoever changes an account's keys decides that: it is the account's own words that are stored,
    and the account alone that reads them.

    Raises:
        Refused: 409 where messages cannot be encrypted; less than before goes all the same.
    """
    if new is None or (old is not None and new <= old):
        return
    if desk.sealer() is None:
        raise conflict(
            "store_days: messages are only stored encrypted, and this gateway has no key for that;"
            " whoever runs it sets [log] content_key.",
            "store_days",
        )


def _not_revoked(key: Key) -> None:
    if key.revoked is not None:
        raise conflict(f"The key '{key.id}' is revoked, for ever.")
