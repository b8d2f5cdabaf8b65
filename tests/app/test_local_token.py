from pathlib import Path

import pytest

from tests.store.rows import Clock
from zurelay.access.tokens import is_token
from zurelay.app.local_token import FILE, forget, let_in, read
from zurelay.chat.problems import Refused
from zurelay.live.tokens import TokenRing
from zurelay.store.engine import open_store
from zurelay.store.key_source import StoredTokens


async def test_the_file_lets_its_reader_in_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    ring = TokenRing(StoredTokens(store), clock=Clock())
    (tmp_path / FILE).write_text("old")
    (tmp_path / FILE).chmod(0o644)
    let_in(tmp_path, ring, "http://127.0.0.1:1")
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    token, base_url = read(tmp_path) or ("", "")
    assert is_token(token)
    assert base_url == "http://127.0.0.1:1"
    headers = [(b"authorization", f"Bearer {token}".encode())]
    assert (await ring.identify(headers, "POST")).name == "this machine"
    let_in(tmp_path, ring, "http://127.0.0.1:1")
    with pytest.raises(Refused):
        await ring.identify(headers, "POST")
    await ring.close()
    store.close()


def test_without_a_file_or_with_half_of_one_there_is_none(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    (tmp_path / FILE).write_text("zka-only\n")
    assert read(tmp_path) is None
    forget(tmp_path)
    forget(tmp_path)
    assert not (tmp_path / FILE).exists()
