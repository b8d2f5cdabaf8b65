from tests.store.rows import ACCOUNT, NOON, a_record, entry
from zurelay.store.engine import Store
from zurelay.store.log import StoredLog
from zurelay.store.requests import Filter
from zurelay.store.usage import spent_by_day


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
