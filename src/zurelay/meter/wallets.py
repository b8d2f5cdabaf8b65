"""Which wallets a request is paid from: its account's balance, and the budgets it falls under.

A wallet is money or permission that runs out. Its name says whose it is and for which period, so
that every process names it alike. Nothing here knows how much is in it.
"""

from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from zurelay.access.accounts import Account, Budget, Period
from zurelay.access.keys import Key

REVENUE: Final = "revenue"
"""Takes what requests cost."""
FUNDING: Final = "funding"
"""Gives what people pay in, takes what they are paid back."""
OVERRUN: Final = "overrun"
"""Gives what a request cost beyond what its account had: the operator bears it."""

_BALANCE: Final = "balance:"
_BUDGET: Final = "budget:"


class Wallet(msgspec.Struct, frozen=True, gc=False):
    """Something that a request takes its cost from.

    Attributes:
        id: its name, the same everywhere.
        account: id of the account it belongs to; `owner` of the key, for a key's budget.
        period: of a budget, such as `2026-11`; empty for a balance.
        since: Unix time the period began; 0 for ever.
        budget: nano-dollars a budget begins with; None for a balance.
        limited: a request must be refused when it is empty.
    """

    id: str
    account: str
    owner: str
    period: str = ""
    since: int = 0
    budget: int | None = None
    limited: bool = True


class Purse(msgspec.Struct, frozen=True, gc=False):
    """All wallets of one key, until the first of their periods ends at Unix time `until`.

    `limited` tells whether any of them is.
    """

    wallets: tuple[Wallet, ...]
    limited: bool
    until: float


class Want(msgspec.Struct, frozen=True, gc=False):
    """A process wants to spend of a wallet: `need` nano-dollars now, better `like` of them."""

    wallet: Wallet
    need: int
    like: int = 0


class Drawn(msgspec.Struct, frozen=True, gc=False):
    """What came of a `Want`.

    Attributes:
        granted: nano-dollars the process may spend more than before; 0 if `need` is not there.
        left: what no process has leased.
        elsewhere: what others have leased and not spent.
        nodes: how many share.
    """

    granted: int
    left: int
    elsewhere: int = 0
    nodes: int = 1


def balance_of(account: str) -> str:
    """The id of an account's balance."""
    return f"{_BALANCE}{account}"


def account_of_balance(wallet: str) -> str | None:
    """The account whose balance that is; None if it is another kind of wallet."""
    return wallet.removeprefix(_BALANCE) if wallet.startswith(_BALANCE) else None


def purse_of(key: Key, now: float, *, prepaid: bool, zone: str = "UTC") -> Purse:
    """What that key's requests admitted at Unix time `now` are paid from.

    Args:
        key: with its account's terms as `owner`.
        now: decides the periods.
        prepaid: whether accounts need a balance, where the account does not say.
        zone: IANA time zone of periods, where the account does not say.
    """
    owner = key.owner
    where = zone_of(owner, zone)
    needs_balance = prepaid if owner is None or owner.prepaid is None else owner.prepaid
    wallets = [Wallet(balance_of(key.account), key.account, key.account, limited=needs_balance)]
    until = float("inf")
    budgets = ((key.account, owner.budget if owner else None), (key.id, key.budget))
    for whose, budget in budgets:
        if budget is not None:
            wallet, end = budget_wallet(key.account, whose, budget, now, where)
            wallets.append(wallet)
            until = min(until, end)
    return Purse(tuple(wallets), any(wallet.limited for wallet in wallets), until)


def budget_wallet(
    account: str, owner: str, budget: Budget, now: float, zone: tzinfo
) -> tuple[Wallet, float]:
    """The wallet of a budget at Unix time `now`, and when its period ends."""
    name, since, until = period_at(budget.period, now, zone)
    wallet = Wallet(f"{_BUDGET}{owner}:{name}", account, owner, name, since, budget.usd)
    return wallet, until


def period_at(period: Period, now: float, zone: tzinfo) -> tuple[str, int, float]:
    """Name, first second and end of the period that runs at Unix time `now`.

    Days begin at midnight in `zone`, weeks on Monday, months on the first.
    """
    if period == "total":
        return "total", 0, float("inf")
    day = datetime.fromtimestamp(now, zone).date()
    if period == "day":
        name, first, after = day.isoformat(), day, day + timedelta(days=1)
    elif period == "week":
        first = day - timedelta(days=day.weekday())
        year, week, _ = day.isocalendar()
        name, after = f"{year}-W{week:02d}", first + timedelta(days=7)
    else:
        first = day.replace(day=1)
        name, after = f"{day:%Y-%m}", (first + timedelta(days=32)).replace(day=1)
    start, end = (datetime.combine(date, time(), zone).timestamp() for date in (first, after))
    return name, int(start), end


def zone_of(account: Account | None, default: str = "UTC") -> tzinfo:
    """The time zone of an account's periods; UTC where the name means nothing any more."""
    name = default if account is None or account.zone is None else account.zone
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
