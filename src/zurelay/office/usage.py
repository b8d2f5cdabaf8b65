"""What was used and what it cost: by model, key, account, day, end user, or provider."""

from typing import Final

from msgspec import Struct

from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk
from zurelay.office.keys import the_key
from zurelay.office.rights import Actor
from zurelay.store.accounts import list_accounts
from zurelay.store.keys import list_keys
from zurelay.store.usage import Grouping, usage_by, usage_by_provider
from zurelay.store.users import usage_by_user

USER_DAYS: Final = 30
"""How far back users are summed where nothing else is asked for: that reads the log itself."""


class UsageView(Struct):
    """Sums over a group: a model's, key's or account's id, or a day (UTC). `name` for people.

    `tokens` are counted by class; `reasoning` is part of `output`.
    """

    group: str
    name: str | None
    requests: int
    errors: int
    estimated: int
    cost_usd: str
    tokens: dict[str, int]


class UserUsageView(Struct):
    """Sums over the requests of one end user; null for those that named none."""

    user: str | None
    requests: int
    errors: int
    cost_usd: str


class ProviderUsageView(Struct):
    """Sums over one provider, to set beside its invoice.

    `charged_usd` is what callers paid, `cost_usd` what the provider asks for the same requests,
    `lost_usd` what it may ask for attempts that nobody paid for.
    """

    provider: str
    requests: int
    failed: int
    charged_usd: str
    cost_usd: str
    lost_usd: str
    tokens: dict[str, int]


def usage(
    desk: Desk,
    actor: Actor,
    by: Grouping,
    *,
    since: float | None = None,
    until: float | None = None,
    account: str | None = None,
    key: str | None = None,
) -> list[UsageView]:
    """Usage of whole hours, one row per group: days in order, others dearest first.

    Args:
        desk: where.
        actor: who asks.
        by: what to sum over.
        since: Unix seconds; its hour counts whole.
        until: Unix seconds; its hour counts whole unless it has only begun.
        account: only of this account, id or name.
        key: only of this key, id or name.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "usage.read") as connection:
        only = actor.account if account is None else the_account(connection, actor, account).id
        which = None if key is None else the_key(connection, actor, key).id
        rows = usage_by(connection, by, since, until, only, which)
        names: dict[str, str] = {}
        if by == "key":
            names = {one.id: one.name for one in list_keys(connection, only)}
        elif by == "account":
            names = {one.id: one.name for one in list_accounts(connection)}
        return [
            UsageView(
                group=row.group,
                name=names.get(row.group),
                requests=row.requests,
                errors=row.errors,
                estimated=row.estimated,
                cost_usd=v.usd_of(row.cost),
                tokens=row.tokens,
            )
            for row in rows
        ]


def usage_of_users(
    desk: Desk,
    actor: Actor,
    *,
    since: float | None = None,
    until: float | None = None,
    account: str | None = None,
    key: str | None = None,
    newest: int | None = None,
) -> list[UserUsageView]:
    """The end users who cost most, dearest first; reads the log, see `USER_DAYS`.

    `newest`: looks at no more than so many entries, the newest.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "usage.read") as connection:
        only = actor.account if account is None else the_account(connection, actor, account).id
        which = None if key is None else the_key(connection, actor, key).id
        end = desk.clock() + 1 if until is None else until
        start = end - USER_DAYS * 86_400 if since is None else since
        rows = usage_by_user(connection, start, end, only, which, newest=newest)
        return [
            UserUsageView(row.user, row.requests, row.errors, v.usd_of(row.cost)) for row in rows
        ]


def usage_of_providers(
    desk: Desk, actor: Actor, *, since: float | None = None, until: float | None = None
) -> list[ProviderUsageView]:
    """What each provider did and asks for it, dearest first. Raises Refused: 403."""
    with desk.read(actor, "providers.read") as connection:
        return [
            ProviderUsageView(
                provider=row.provider,
                requests=row.requests,
                failed=row.failed,
                charged_usd=v.usd_of(row.cost),
                cost_usd=v.usd_of(row.upstream_cost),
                lost_usd=v.usd_of(row.lost),
                tokens=row.tokens,
            )
            for row in usage_by_provider(connection, since, until)
        ]
