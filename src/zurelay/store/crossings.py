"""Budgets and balances of which a level is used up and that nobody was told of yet.

Reads what is held by this moment; what is told, and to whom, is another's business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlalchemy import Connection, TextClause, bindparam, select, text

from zurelay.access.accounts import Period
from zurelay.store import schema
from zurelay.store.wallets import BALANCE


@dataclass(frozen=True, slots=True)
class Crossed:
    """A budget or balance of which a level is used up, and that was not told yet. Nano-dollars.

    Attributes:
        event: names the happening: the wallet, its size (or when it was paid in), and the level.
        wallet: its id.
        owner: the account's or key's id.
        period: of a budget; empty for a balance.
        whole: the budget, or the balance as it stood after the last credit.
        left: of it; below zero for what was spent beyond.
        level: 50, 80 or 100 percent.
    """

    event: str
    wallet: str
    account: str
    owner: str
    period: str
    whole: int
    left: int
    level: int


def account_zones(connection: Connection) -> list[str | None]:
    """The time zones that accounts name, each once; None stands for those that name none."""
    return list(connection.execute(select(schema.account.c.zone).distinct()).scalars())


def crossed_budgets(
    connection: Connection,
    names: Mapping[Period, str],
    zones: Sequence[str | None],
    now: float,
    most: int,
) -> list[Crossed]:
    """Budgets of which a level is used up in the period that runs, and that was not told yet.

    Only the highest level of each, and none below one that was told.

    Args:
        connection: a transaction.
        names: of the periods that run in those zones.
        zones: accounts' own; None among them for accounts that name none.
        now: Unix time; keys that expired before are left out.
        most: how many at most.
    """
    given: dict[str, object] = {
        "now": int(now),
        "most": most,
        "zones": [one or "" for one in zones],
    }
    given |= {str(period): name for period, name in names.items()}
    return _crossed(connection, _BUDGETS, given)


def low_balances(connection: Connection, *, prepaid: bool, most: int) -> list[Crossed]:
    """Balances of accounts that need one, of which a level of the last credit is used up.

    Args:
        connection: a transaction.
        prepaid: whether accounts that do not say need one.
        most: how many at most.
    """
    return _crossed(connection, _BALANCES, {"prepaid": prepaid, "most": most})


# Our own.

# Every number is a whole one, so that a level is reached exactly where it is: of a budget of 10,
# 80 percent are used when 2 are left.
_LEVELS: Final = """
, crossed AS (
    SELECT id, account, owner, period, whole, balance, stem,
        CASE WHEN balance <= 0 THEN 100 WHEN balance <= whole / 5 THEN 80 ELSE 50 END AS level
    FROM known WHERE balance <= whole / 2
)
SELECT stem || level AS event, id AS wallet, account, owner, period, whole, balance, level
FROM crossed
WHERE NOT EXISTS (
    SELECT 1 FROM alert WHERE alert.event IN (
        stem || '100', stem || CASE WHEN level <= 80 THEN '80' ELSE '100' END, stem || level
    )
)
ORDER BY id LIMIT :most
"""

# From budgets to their wallets, each by its name: wallets of periods that are over are not looked
# at, however many there are.
_BUDGETS: Final = f"""
WITH held AS (
    SELECT api_key.id AS owner, account, api_key.budget AS whole,
        api_key.budget_period AS every, zone
    FROM api_key JOIN account ON account.id = api_key.account
    WHERE api_key.budget > 0 AND revoked IS NULL AND (expires IS NULL OR expires > :now)
    UNION ALL
    SELECT id, id, budget, budget_period, zone FROM account WHERE budget > 0
), known AS (
    SELECT wallet.id, held.account, held.owner, wallet.period, whole,
        {BALANCE} AS balance,
        wallet.id || ':' || whole || ':' AS stem
    FROM held JOIN wallet ON wallet.id = 'budget:' || held.owner || ':' || CASE every
        WHEN 'day' THEN CAST(:day AS VARCHAR(20)) WHEN 'week' THEN CAST(:week AS VARCHAR(20))
        WHEN 'month' THEN CAST(:month AS VARCHAR(20)) ELSE CAST(:total AS VARCHAR(20)) END
    WHERE coalesce(held.zone, '') IN :zones
) {_LEVELS}
"""  # noqa: S608 - of constants

_BALANCES: Final = f"""
WITH known AS (
    SELECT wallet.id, account.id AS account, account.id AS owner, '' AS period,
        topped AS whole,
        {BALANCE} AS balance,
        wallet.id || ':' || topped_ms || ':' AS stem
    FROM account JOIN wallet ON wallet.id = 'balance:' || account.id
    WHERE topped > 0 AND (account.prepaid OR (account.prepaid IS NULL AND :prepaid))
) {_LEVELS}
"""  # noqa: S608 - of constants


def _crossed(connection: Connection, statement: str, given: Mapping[str, object]) -> list[Crossed]:
    rows = connection.execute(_sql(statement), given).mappings()
    return [
        Crossed(
            event=row["event"],
            wallet=row["wallet"],
            account=row["account"],
            owner=row["owner"],
            period=row["period"],
            whole=int(row["whole"]),
            left=int(row["balance"]),
            level=int(row["level"]),
        )
        for row in rows
    ]


@cache
def _sql(statement: str) -> TextClause:
    made = text(statement)
    if ":zones" in statement:
        made = made.bindparams(bindparam("zones", expanding=True))
    return made
