"""Wallets and the leases that nodes hold on them; what requests take, posted to both sides.

A wallet's balance is `available` and, for each lease, granted less spent. A node spends out of its
leases without asking and writes no row that another node writes, so that nodes never wait for each
other. Money enters and leaves `available` alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from sqlalchemy import Connection, RowMapping, TextClause, text

from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import (
    OVERRUN,
    REVENUE,
    Drawn,
    Wallet,
    Want,
    account_of_balance,
    balance_of,
)
from zurelay.store import schema
from zurelay.store.counters import raise_counter
from zurelay.store.requests import at_ms
from zurelay.store.upsert import RowsInsert
from zurelay.store.usage import cost_since

RECALLS: Final = "recalls"
"""The counter that rises with every recall."""

LEASE_S: Final = 300
"""How long a lease is good after its node was last heard of."""

ALIVE_S: Final = 15
"""A node that was heard of this lately shares in what there is."""

BALANCE: Final = (
    "wallet.available + coalesce("
    "(SELECT sum(granted - spent) FROM lease WHERE lease.wallet = wallet.id), 0)"
)
"""SQL for what a row of `wallet` holds, whoever has leased it."""

_HOUR: Final = 3600
_HELD_S: Final = 86_400
"""When what a dead node's requests had set aside counts as never spent."""


def begin_node(connection: Connection, node: str, now: float, *, alone: bool) -> int:
    """Note a node's start and return what its earlier run had leased; gives its new epoch.

    Everything it had settled must be in the log by now.

    Args:
        connection: a writing transaction.
        node: its name.
        now: Unix time.
        alone: no other node can be at work on this store: everyone's leases return.
    """
    connection.execute(
        _sql(
            "INSERT INTO node (id, epoch, seen, spool) VALUES (:node, 1, :now, 0)"
            " ON CONFLICT (id) DO UPDATE SET epoch = node.epoch + 1, seen = :now, spool = 0"
        ),
        {"node": node, "now": int(now)},
    )
    found = connection.execute(
        _sql("SELECT wallet, node FROM lease WHERE node = :node OR :alone"),
        {"node": node, "alone": alone},
    ).mappings()
    for row in sorted(found, key=lambda row: (row["wallet"], row["node"])):
        _end_lease(connection, row)
    if alone:
        connection.execute(_sql("DELETE FROM node WHERE id <> :node"), {"node": node})
    return int(
        connection.execute(
            _sql("SELECT epoch FROM node WHERE id = :node"), {"node": node}
        ).scalar_one()
    )


def end_node(connection: Connection, node: str) -> None:
    """Note a node's end and return all that it had leased and not spent.

    Everything it had settled must be in the log by now.
    """
    found = connection.execute(
        _sql("SELECT wallet, granted - spent FROM lease WHERE node = :node AND granted > spent"),
        {"node": node},
    )
    give_back(connection, node, {wallet: int(left) for wallet, left in found})
    connection.execute(_sql("UPDATE node SET seen = 0, spool = 0 WHERE id = :node"), {"node": node})


def draw(
    connection: Connection, node: str, epoch: int, wants: Sequence[Want], now: float, *, alone: bool
) -> list[Drawn]:
    """Lease what is wanted of each wallet, if it has it; see `Drawn`. In the order of `wants`.

    Args:
        connection: a writing transaction.
        node: who draws.
        epoch: of its run.
        wants: each of another wallet.
        now: Unix time by the database's clock.
        alone: this node is the only one; it may take all there is.
    """
    nodes = 1 if alone else max(1, _nodes(connection, now))
    drawn: dict[str, Drawn] = {}
    for want in sorted(wants, key=lambda want: want.wallet.id):
        available = _locked(connection, want.wallet)
        elsewhere, owed = (0, 0) if alone else _elsewhere(connection, want.wallet.id, node)
        available -= owed
        granted = _slice(available, want, nodes, alone=alone)
        if granted:
            _lease(connection, want.wallet.id, node, epoch, granted, None if alone else now)
        drawn[want.wallet.id] = Drawn(granted, available - granted, elsewhere, nodes)
    return [drawn[want.wallet.id] for want in wants]


def give_back(connection: Connection, node: str, amounts: Mapping[str, int]) -> None:
    """Return idle parts of leases: wallet id -> nano-dollars."""
    for wallet, amount in sorted(amounts.items()):
        given = {"wallet": wallet, "node": node, "amount": amount}
        returned = connection.execute(
            _sql(
                "UPDATE lease SET granted = granted - :amount"
                " WHERE wallet = :wallet AND node = :node AND granted - spent >= :amount"
            ),
            given,
        ).rowcount
        if returned:
            _add(connection, wallet, amount)


def renew(
    connection: Connection, node: str, held: Mapping[str, int], spool: int, now: float
) -> None:
    """Say that a node is alive, what its requests under way hold, and what it must still deliver.

    `now`: Unix time by the database's clock.
    """
    connection.execute(
        _sql("UPDATE node SET seen = :now, spool = :spool WHERE id = :node"),
        {"node": node, "now": int(now), "spool": spool},
    )
    connection.execute(
        _sql(
            "UPDATE lease SET expires = :expires"
            " WHERE node = :node AND granted > spent AND expires IS NOT NULL"
        ),
        {"node": node, "expires": int(now) + LEASE_S},
    )
    for wallet, amount in sorted(held.items()):
        connection.execute(
            _sql("UPDATE lease SET held = :held WHERE wallet = :wallet AND node = :node"),
            {"wallet": wallet, "node": node, "held": amount},
        )


def leased(connection: Connection, node: str) -> dict[str, int]:
    """What a node was granted since it began, spent or not: wallet id -> nano-dollars."""
    found = connection.execute(
        _sql("SELECT wallet, granted FROM lease WHERE node = :node"), {"node": node}
    )
    return {wallet: int(granted) for wallet, granted in found}


def recall(connection: Connection, wallet: str) -> None:
    """Ask every node to return what it does not use of a wallet; they do within a second."""
    connection.execute(
        _sql("UPDATE wallet SET recalled = recalled + 1 WHERE id = :wallet"), {"wallet": wallet}
    )
    raise_counter(connection, RECALLS)


def recalled(connection: Connection, node: str) -> dict[str, int]:
    """How often each wallet that a node has a lease on was recalled."""
    found = connection.execute(
        _sql(
            "SELECT wallet.id, wallet.recalled FROM wallet JOIN lease ON lease.wallet = wallet.id"
            " WHERE lease.node = :node AND wallet.recalled > 0"
        ),
        {"node": node},
    )
    return {wallet: int(times) for wallet, times in found}


def expire(connection: Connection, now: float) -> list[str]:
    """Return what dead nodes had leased; gives the names of nodes that lost something.

    What their requests under way held stays with them for a day: they may have been settled, and
    be on their way. `now`: Unix time by the database's clock.
    """
    found = list(
        connection.execute(
            _sql(
                "SELECT wallet, node, granted, spent, held, expires FROM lease"
                " WHERE expires < :now AND granted > spent ORDER BY wallet, node"
            ),
            {"now": int(now)},
        ).mappings()
    )
    lost = set()
    for row in found:
        kept = row["held"] if now - row["expires"] < _HELD_S else 0
        amount = row["granted"] - row["spent"] - kept
        if amount > 0:
            give_back(connection, row["node"], {row["wallet"]: amount})
            lost.add(row["node"])
    return sorted(lost)


def post(connection: Connection, node: str, records: Iterable[RequestRecord]) -> None:
    """Take from this node's leases what new log entries cost, and write it into the ledger."""
    spent: dict[str, int] = {}
    entries = []
    for record in records:
        if not record.cost:
            continue
        paid = 0
        at = at_ms(record.id) or 0
        for wallet, amount in record.postings.items():
            spent[wallet] = spent.get(wallet, 0) + amount
            if account_of_balance(wallet) is not None:
                entries.append((at, record.id, wallet, REVENUE, amount))
                paid += amount
        if paid < record.cost:
            entries.append((at, record.id, OVERRUN, REVENUE, record.cost - paid))
    for wallet, amount in sorted(spent.items()):
        _spend(connection, node, wallet, amount)
    _ENTRIES.run(connection, sorted(entries))


def add_available(connection: Connection, wallet: Wallet, amount: int) -> None:
    """Put nano-dollars into a wallet, or take them if `amount` is below zero."""
    _ensure(connection, wallet)
    _add(connection, wallet.id, amount)


def add_entry(
    connection: Connection, at: int, id_: str, debit: str, credit: str, amount: int
) -> None:
    """Write a row of the ledger: `debit` gives `amount` to `credit`. `at` in Unix milliseconds."""
    _ENTRIES.run(connection, [(at, id_, debit, credit, amount)])


def balance(connection: Connection, wallet: str) -> int:
    """Nano-dollars in a wallet, whoever has leased them; 0 for one that nothing happened to."""
    found = connection.execute(
        _sql(
            f"SELECT {BALANCE} FROM wallet WHERE id = :wallet"  # noqa: S608 - of a constant
        ),
        {"wallet": wallet},
    ).scalar_one_or_none()
    return 0 if found is None else int(found)


def budget_left(connection: Connection, wallet: Wallet) -> int:
    """Nano-dollars left of a budget in the period that `wallet` names."""
    known = connection.execute(
        _sql("SELECT 1 FROM wallet WHERE id = :wallet"), {"wallet": wallet.id}
    ).scalar_one_or_none()
    return balance(connection, wallet.id) if known else _begins_with(connection, wallet)


def spent_since(connection: Connection, since: float, account: str, key: str | None) -> int:
    """Nano-dollars that an account, or one key of it, spent since Unix time `since`.

    By the sums of hours, and by the log where days begin inside an hour, as in India.
    """
    whole = -(-int(since) // _HOUR)
    given = {"since": int(since) * 1000, "until": whole * _HOUR * 1000}
    of, mine = ("account", account) if key is None else ("api_key", key)
    spent = cost_since(connection, whole, account, key)
    if given["since"] < given["until"]:
        rows = (
            f"SELECT sum(cost) FROM request WHERE {of} = :whose"  # noqa: S608
            " AND at_ms >= :since AND at_ms < :until"
        )
        spent += int(connection.execute(_sql(rows), {**given, "whose": mine}).scalar_one() or 0)
    return spent


def change_budget(connection: Connection, owner: str, period: str, budget: int) -> None:
    """Let the budget of an account or key have been that much in a period that has begun."""
    connection.execute(
        _sql(
            "UPDATE wallet SET available = available + :budget - budget, budget = :budget"
            " WHERE owner = :owner AND period = :period AND budget IS NOT NULL"
        ),
        {"owner": owner, "period": period, "budget": budget},
    )


def account_balance(account: str, *, limited: bool = True) -> Wallet:
    """The wallet that is an account's balance."""
    return Wallet(balance_of(account), account, account, limited=limited)


_ENTRIES = RowsInsert(schema.entry, "DO NOTHING")


def _locked(connection: Connection, wallet: Wallet) -> int:
    """What a wallet has available, made and held against others until the transaction ends."""
    update = "UPDATE wallet SET recalled = recalled WHERE id = :wallet RETURNING available"
    found = connection.execute(_sql(update), {"wallet": wallet.id}).scalar_one_or_none()
    if found is None:
        _ensure(connection, wallet)
        found = connection.execute(_sql(update), {"wallet": wallet.id}).scalar_one()
    return int(found)


def _ensure(connection: Connection, wallet: Wallet) -> None:
    connection.execute(
        _sql(
            "INSERT INTO wallet (id, account, owner, period, budget, available, recalled)"
            " VALUES (:id, :account, :owner, :period, :budget, :available, 0)"
            " ON CONFLICT (id) DO NOTHING"
        ),
        {
            "id": wallet.id,
            "account": wallet.account,
            "owner": wallet.owner,
            "period": wallet.period,
            "budget": wallet.budget,
            "available": _begins_with(connection, wallet),
        },
    )


def _begins_with(connection: Connection, wallet: Wallet) -> int:
    """A balance begins with nothing; a budget with what is left of it, by the sums of the log."""
    if wallet.budget is None:
        return 0
    key = None if wallet.owner == wallet.account else wallet.owner
    return wallet.budget - spent_since(connection, wallet.since, wallet.account, key)


def _slice(available: int, want: Want, nodes: int, *, alone: bool) -> int:
    """How much of what is available this node takes: a fair part, what it needs at least."""
    if available <= 0 or available < want.need:
        return 0
    if alone:
        return available
    fair = max(want.like, available // (4 * nodes))
    return min(available, max(want.need, min(fair, available // nodes)))


def _lease(
    connection: Connection, wallet: str, node: str, epoch: int, granted: int, now: float | None
) -> None:
    """Move `granted` from a wallet into a node's lease. `now` None: it never expires."""
    _add(connection, wallet, -granted)
    connection.execute(
        _sql(
            "INSERT INTO lease (wallet, node, epoch, granted, spent, held, expires)"
            " VALUES (:wallet, :node, :epoch, :granted, 0, 0, :expires)"
            " ON CONFLICT (wallet, node) DO UPDATE SET epoch = :epoch,"
            " granted = lease.granted + :granted, expires = :expires"
        ),
        {
            "wallet": wallet,
            "node": node,
            "epoch": epoch,
            "granted": granted,
            "expires": None if now is None else int(now) + LEASE_S,
        },
    )


def _spend(connection: Connection, node: str, wallet: str, amount: int) -> None:
    given = {"wallet": wallet, "node": node, "amount": amount}
    spend = _sql("UPDATE lease SET spent = spent + :amount WHERE wallet = :wallet AND node = :node")
    if connection.execute(spend, given).rowcount:
        return
    account = account_of_balance(wallet)
    if account is not None:
        # One without a limit needs no lease before it is spent from, and may fall below zero.
        _ensure(connection, account_balance(account))
    connection.execute(
        _sql(
            "INSERT INTO lease (wallet, node, epoch, granted, spent, held, expires)"
            " SELECT id, :node, 0, 0, :amount, 0, NULL FROM wallet WHERE id = :wallet"
            # One may be drawn at this very moment.
            " ON CONFLICT (wallet, node) DO UPDATE SET spent = lease.spent + excluded.spent"
        ),
        given,
    )


def _end_lease(connection: Connection, row: RowMapping) -> None:
    left = connection.execute(
        _sql("DELETE FROM lease WHERE wallet = :wallet AND node = :node RETURNING granted - spent"),
        {"wallet": row["wallet"], "node": row["node"]},
    ).scalar_one_or_none()
    if left:
        _add(connection, row["wallet"], int(left))


def _add(connection: Connection, wallet: str, amount: int) -> None:
    connection.execute(
        _sql("UPDATE wallet SET available = available + :amount WHERE id = :wallet"),
        {"wallet": wallet, "amount": amount},
    )


def _elsewhere(connection: Connection, wallet: str, node: str) -> tuple[int, int]:
    """What other nodes have leased and not spent, and what they spent beyond their leases.

    The latter happens without a limit, and must come out of what is available.
    """
    left, owed = connection.execute(
        _sql(
            "SELECT coalesce(sum(CASE WHEN granted > spent THEN granted - spent END), 0),"
            " coalesce(sum(CASE WHEN granted < spent THEN spent - granted END), 0)"
            " FROM lease WHERE wallet = :wallet AND node <> :node"
        ),
        {"wallet": wallet, "node": node},
    ).one()
    return int(left), int(owed)


def _nodes(connection: Connection, now: float) -> int:
    return int(
        connection.execute(
            _sql("SELECT count(*) FROM node WHERE seen > :since"), {"since": int(now) - ALIVE_S}
        ).scalar_one()
    )


@cache
def _sql(statement: str) -> TextClause:
    """The statement, parsed once."""
    return text(statement)
