from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.live.switched import SwitchedLog, a_ledger
from tests.store.rows import with_account
from zurelay.live.ledger import JournalLedger
from zurelay.store.engine import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = with_account(open_store(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def log(store: Store) -> SwitchedLog:
    return SwitchedLog(store)


@pytest.fixture
async def ledger(tmp_path: Path, log: SwitchedLog) -> AsyncIterator[JournalLedger]:
    made = a_ledger(tmp_path, log)
    await made.start()
    yield made
    log.go.set()
    log.away = False
    await made.close()
