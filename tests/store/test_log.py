from sqlalchemy import select

from tests.store.rows import ACCOUNT, NOON, a_record, entry, spent_by_day
from zurelay.store import schema
from zurelay.store.engine import Store
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter, add_requests
from zurelay.store.usage import shard_of


def spent(store: Store) -> list[tuple[str, int, int]]:
    with store.read() as connection:
        return spent_by_day(connection)


def test_entries_and_the_mark_are_written_together(store: Store) -> None:
    log = StoredLog(store)
    record = a_record()
    assert log.applied("j") == 0
    log.apply("j", 4, [entry(record)])
    assert log.applied("j") == 4
    assert log.applied("another") == 0
    assert log.get(record.id, ACCOUNT.id) == record
    assert log.recent(Filter(), 10) == [record]
    assert spent(store) == [(record.key, int(NOON) // 86_400, record.cost)]


def test_the_same_groups_again_change_nothing(store: Store) -> None:
    log = StoredLog(store)
    entries = [entry(a_record(NOON + n)) for n in range(3)]
    log.apply("j", 1, entries)
    before = spent(store)
    log.apply("j", 1, entries)
    assert spent(store) == before
    assert len(log.recent(Filter(), 10)) == 3


def test_a_database_of_many_nodes_has_each_nodes_sums_in_its_own_rows(store: Store) -> None:
    log = StoredLog(store)
    nodes = ["node_a", "node_b", "node_c"]
    for node in nodes:
        log.apply(node, 1, [entry(a_record(NOON))])
    log.add("node_a", [entry(a_record(NOON))])
    with store.read() as connection:
        shards = set(connection.execute(select(schema.usage_hour.c.shard)).scalars())
    assert shards == ({0} if store.kind == "sqlite" else {shard_of(node) for node in nodes})
    assert sum(cost for _, _, cost in spent(store)) == 4 * 12_345


def test_nodes_write_side_by_side(store: Store) -> None:
    """With PostgreSQL: a node that has not committed yet keeps no other from it."""
    if store.kind == "sqlite":
        return
    with store.write(alone=False) as slow:
        add_requests(slow, [entry(a_record())], shard_of("node_a"))
        StoredLog(store).apply("node_b", 1, [entry(a_record())])
