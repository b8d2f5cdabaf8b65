import msgspec

from tests.store.rows import NOON, a_record
from zurelay.live.underway import PATIENCE_S, UnderWay
from zurelay.meter.record import RequestRecord


def ids(pairs: list[tuple[str, bytes]]) -> list[str]:
    return [id_ for id_, _ in pairs]


def test_a_request_is_told_once_it_has_run_for_a_moment_and_only_once() -> None:
    record = a_record(status="running")
    running = {record.id: record}
    under_way = UnderWay(running)
    assert under_way.changes(NOON + PATIENCE_S - 0.01) == ([], [])
    begun, over = under_way.changes(NOON + PATIENCE_S)
    assert over == []
    assert ids(begun) == [record.id]
    assert msgspec.json.decode(begun[0][1], type=RequestRecord) == record
    assert under_way.changes(NOON + 9) == ([], [])


def test_its_end_is_told_once() -> None:
    record = a_record(status="running")
    running = {record.id: record}
    under_way = UnderWay(running)
    under_way.changes(NOON + 1)
    running.clear()
    assert under_way.changes(NOON + 2) == ([], [record.id])
    assert under_way.changes(NOON + 3) == ([], [])


def test_a_short_request_is_never_told() -> None:
    running: dict[str, RequestRecord] = {}
    under_way = UnderWay(running)
    record = a_record(status="running")
    running[record.id] = record
    assert under_way.changes(NOON) == ([], [])
    running.clear()
    assert under_way.changes(NOON + 9) == ([], [])
