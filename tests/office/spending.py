"""Spending out of real wallets, as a node does: leased first, then posted with its log entry."""

from tests.store.rows import a_record, entry
from zurelay.access.keys import Key
from zurelay.meter.wallets import Want, purse_of
from zurelay.office.desk import Desk
from zurelay.store import wallets
from zurelay.store.requests import add_requests

USD = 10**9


def spend(desk: Desk, key: Key, usd: int | str, node: str = "n1") -> None:
    """One request of that key that costs so much; `usd` as text in nano-dollars."""
    cost = usd * USD if isinstance(usd, int) else int(usd)
    now = desk.clock()
    purse = purse_of(key, now, prepaid=desk.prepaid(), zone=desk.zone())
    with desk.store.write() as connection:
        wants = [Want(wallet, min(cost, 1)) for wallet in purse.wallets]
        wallets.begin_node(connection, node, now, alone=False)
        wallets.draw(connection, node, 1, wants, now, alone=False)
        record = a_record(
            now,
            cost=cost,
            account=key.account,
            key=key.id,
            postings={wallet.id: cost for wallet in purse.wallets},
        )
        add_requests(connection, [entry(record)])
        wallets.post(connection, node, [record])
