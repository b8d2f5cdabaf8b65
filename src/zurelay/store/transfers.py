"""What people moved: credits, debits, refunds. Each row has its two sides in the ledger.

A transfer is written once per `ref`; balances are `wallets`' business.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from zurelay.store import schema
from zurelay.store.paging import Mark, newest_first

_TABLE = schema.transfer


@dataclass(frozen=True, slots=True)
class Transfer:
    """Money that somebody moved.

    Attributes:
        id: `xfer_...`.
        at_ms: Unix milliseconds.
        kind: `credit`, `debit` or `refund`.
        amount: nano-dollars the balance gained; a debit's is below zero.
        request: id of the request that a refund is of.
        ref: the caller's own name for it, unique.
    """

    id: str
    at_ms: int
    account: str
    kind: str
    amount: int
    request: str | None
    ref: str
    note: str
    actor: str


def add_transfer(connection: Connection, transfer: Transfer) -> None:
    """Write it."""
    connection.execute(
        insert(_TABLE).values(
            id=transfer.id,
            at_ms=transfer.at_ms,
            account=transfer.account,
            kind=transfer.kind,
            amount=transfer.amount,
            request=transfer.request,
            ref=transfer.ref,
            note=transfer.note,
            actor=transfer.actor,
        )
    )


def find_transfer(connection: Connection, ref: str) -> Transfer | None:
    """The transfer of that `ref`."""
    query = select(_TABLE).where(_TABLE.c.ref == ref)
    row = connection.execute(query).mappings().first()
    return None if row is None else _transfer(row)


def list_transfers(
    connection: Connection, account: str | None, after: Mark | None, limit: int
) -> list[Transfer]:
    """Transfers, newest first; of one account if one is given."""
    query = select(_TABLE)
    if account is not None:
        query = query.where(_TABLE.c.account == account)
    query = newest_first(query, _TABLE.c.at_ms, _TABLE.c.id, after).limit(limit)
    return [_transfer(row) for row in connection.execute(query).mappings()]


def transfers_between(
    connection: Connection, account: str, start_ms: int, end_ms: int
) -> list[Transfer]:
    """An account's transfers from one millisecond to before another, oldest first."""
    query = (
        select(_TABLE)
        .where(_TABLE.c.account == account)
        .where(_TABLE.c.at_ms >= start_ms, _TABLE.c.at_ms < end_ms)
        .order_by(_TABLE.c.at_ms, _TABLE.c.id)
    )
    return [_transfer(row) for row in connection.execute(query).mappings()]


def transfers_of(connection: Connection, request: str) -> list[Transfer]:
    """Refunds of that request, newest first."""
    query = select(_TABLE).where(_TABLE.c.request == request)
    query = query.order_by(_TABLE.c.at_ms.desc(), _TABLE.c.id.desc())
    return [_transfer(row) for row in connection.execute(query).mappings()]


def refunded(connection: Connection, request: str) -> int:
    """Nano-dollars of that request that were given back."""
    query = select(func.coalesce(func.sum(_TABLE.c.amount), 0)).where(_TABLE.c.request == request)
    return int(connection.execute(query).scalar_one())


def take_available(connection: Connection, wallet: str, amount: int) -> bool:
    """Take nano-dollars out of a wallet if it has them and no node has leased them."""
    table = schema.wallet
    statement = (
        update(table)
        .where(table.c.id == wallet, table.c.available >= amount)
        .values(available=table.c.available - amount)
    )
    return connection.execute(statement).rowcount > 0


def _transfer(row: RowMapping) -> Transfer:
    return Transfer(**row)
