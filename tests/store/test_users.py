from tests.store.rows import ACCOUNT, NOON, a_record, entry
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests
from zurelay.store.users import UserRow, usage_by_user


def test_users_are_summed_dearest_first(store: Store) -> None:
    records = [
        a_record(NOON, user="ann", cost=5),
        a_record(NOON + 1, user="ann", cost=6, status="error"),
        a_record(NOON + 2, user="bob", cost=20),
        a_record(NOON + 3, cost=1, key="key_2", account="acct_2"),
        a_record(NOON + 60, user="late", cost=9),
    ]
    with store.write() as connection:
        add_requests(connection, [entry(record) for record in records])
    with store.read() as connection:
        found = usage_by_user(connection, NOON, NOON + 60)
        assert found == [
            UserRow("bob", 1, 0, 20),
            UserRow("ann", 2, 1, 11),
            UserRow(None, 1, 0, 1),
        ]
        assert usage_by_user(connection, NOON, NOON + 60, limit=1) == found[:1]
        assert usage_by_user(connection, NOON, NOON + 60, account=ACCOUNT.id) == found[:2]
        assert usage_by_user(connection, NOON, NOON + 60, key="key_2") == found[2:]
        assert usage_by_user(connection, NOON + 2, NOON + 3) == found[:1]
        newest = usage_by_user(connection, NOON, NOON + 60, newest=2)
        assert [row.user for row in newest] == ["bob", None]
