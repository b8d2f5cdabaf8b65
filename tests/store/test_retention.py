import pytest

from tests.store.rows import NOON, a_record, entry
from zurelay.store.engine import Store
from zurelay.store.requests import Filter, add_requests, list_requests
from zurelay.store.retention import delete_older


@pytest.mark.parametrize("batch", [1, 2, 5, 1000])
def test_everything_older_goes_in_batches(
    store: Store, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.store.retention.BATCH", batch)
    with store.write() as connection:
        add_requests(connection, [entry(a_record(NOON + n)) for n in range(6)])
    assert delete_older(store, NOON + 5) == 5
    assert delete_older(store, NOON + 5) == 0
    with store.read() as connection:
        assert [r.created for r in list_requests(connection, Filter(), 10)] == [NOON + 5]
