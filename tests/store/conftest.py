from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.rows import with_account
from zurelay.store.engine import Store, open_store


@pytest.fixture
def store(tmp_path: Path, store_url: str) -> Iterator[Store]:
    opened = with_account(open_store(tmp_path / "data", store_url))
    yield opened
    opened.close()
