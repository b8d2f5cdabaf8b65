"""Messages on the command line: opting in, reading, deleting."""

import json
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Run
from tests.store.rows import a_record
from zurelay.meter.content import Content, Stored, expires_at
from zurelay.store.content import StoredContents
from zurelay.store.engine import open_store
from zurelay.store.keys import list_keys
from zurelay.store.requests import add_requests
from zurelay.store.sealing import Sealer

SECRET = "content-key-of-thirty-two-letters"
EVIL = "the moon \x1b[2J is full\nof cheese"
CONTENT = Content(
    "openai_chat",
    json.dumps({"messages": [{"role": "user", "content": EVIL}]}).encode(),
    b'{"choices":[{"message":{"reasoning_content":"hm","content":"no"}}]}',
)


@pytest.fixture
def stored(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a request of the key `alice` that is stored."""
    (tmp_path / "zurelay.toml").write_text('[log]\ncontent_key = "$K"\n')
    monkeypatch.setenv("K", SECRET)
    assert run("keys", "create", "alice", "--store-days", "3650").code == 2
    assert run("keys", "create", "alice", "--store-days", "365").code == 0
    store = open_store(tmp_path / "zurelay-data")
    with store.write() as connection:
        (key,) = list_keys(connection)
        record = a_record(key=key.id, account=key.account)
        add_requests(connection, [(record, msgspec.json.encode(record))])
    made = StoredContents(store)
    made.sealer = Sealer([SECRET])
    one = Stored(record.id, record.created, key.account, key.id, None, expires_at(2e9, 30), CONTENT)
    made.add([(one, made.seal(one))])
    store.close()
    return record.id


def test_messages_are_printed_and_the_terminal_is_left_alone(run: Run, stored: str) -> None:
    told = run("log", stored, "--content")
    assert told.code == 0
    assert told.out == (
        "[user]\nthe moon [2J is full\nof cheese\n\n[assistant thinking]\nhm\n\n[assistant]\nno\n\n"
    )
    assert "not sent to its end" in told.err
    found = json.loads(run("log", stored, "--content", "--json").out)
    assert (found["state"], found["messages"][0]["pieces"][0]["text"]) == ("stored", EVIL)
    assert run("audit", "--action", "content.read").out.count(stored) == 2


def test_without_the_secret_keys_are_managed_and_messages_are_not_read(
    run: Run, stored: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("K")
    assert run("keys", "list").code == 0
    assert run("keys", "set", "alice", "--store-days", "30").code == 0
    told = run("log", stored, "--content")
    assert (told.code, "content_key" in told.err) == (1, True)
    told = run("keys", "create", "bob", "--store-days", "3")
    assert (told.code, "content_key" in told.err) == (1, True)
    (tmp_path / "zurelay.toml").write_text("")
    told = run("keys", "create", "bob", "--store-days", "3")
    assert (told.code, "[log] content_key" in told.err) == (1, True)
    assert "encrypted with another key" in run("log", stored, "--content").err


def test_messages_are_deleted_by_key(run: Run, stored: str) -> None:
    assert "messages stored 365 days" in run("keys", "list").out
    assert run("keys", "set", "alice", "--store-days", "off").code == 0
    assert "messages stored" not in run("keys", "list").out
    assert run("keys", "forget", "alice").out == "deleted the messages of 1 request\n"
    told = run("log", stored, "--content")
    assert (told.code, "--store-days" in told.err) == (1, True)
    assert run("log", "--content").code == 2
