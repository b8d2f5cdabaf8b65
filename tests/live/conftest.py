from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.rows import with_account
from zurelay.store.engine import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = with_account(open_store(tmp_path))
    yield opened
    opened.close()
