from tests.store.rows import ACCOUNT, NOON, a_record, entry
from zurelay.store.engine import Store
from zurelay.store.exports import Group, usage_after
from zurelay.store.requests import add_requests


def test_pieces_hold_every_group_once_in_order(store: Store) -> None:
    records = [
        a_record(NOON + 3600 * n, key=f"key_{n % 2}", answered_by=f"m{n % 3}", cost=n + 1)
        for n in range(6)
    ]
    records += [a_record(NOON, account="acct_2", key="key_9", cost=50)] * 1
    with store.write() as connection:
        add_requests(connection, [entry(record) for record in records], 0)
        add_requests(connection, [entry(a_record(NOON, key="key_0", answered_by="m0"))], 3)
    with store.read() as connection:
        seen = []
        after: Group | None = None
        while piece := usage_after(connection, after, None, None, None, 2):
            seen += piece
            after = piece[-1].group
        assert [one.group for one in seen] == sorted({one.group for one in seen})
        assert len(seen) == 7
        first = next(one for one in seen if one.group[1:] == (ACCOUNT.id, "key_0", "m0"))
        assert first.counts["requests"] == 2, "nodes add to rows of their own"
        assert first.counts["cost"] == 12_346
        assert len(usage_after(connection, None, NOON + 3600, NOON + 7200, None, 9)) == 1
        assert len(usage_after(connection, None, None, None, "acct_2", 9)) == 1
