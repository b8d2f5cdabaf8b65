from zurelay.live.ports import KeySource, RequestLog
from zurelay.store.engine import Store
from zurelay.store.key_source import StoredKeys
from zurelay.store.log import StoredLog


def test_the_store_offers_what_the_live_parts_need(store: Store) -> None:
    log: RequestLog = StoredLog(store)
    keys: KeySource = StoredKeys(store)
    assert log.applied("j") == 0
    assert keys.load() == []
    keys.close()
