from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.servers import PostgreSQL
from tests.store.rows import a_record, entry
from zurelay.live.journal import Journal
from zurelay.store.engine import open_store
from zurelay.store.lock import FolderLock
from zurelay.store.log import StoredLog
from zurelay.store.usage import usage_by


@pytest.fixture
def url(postgresql: PostgreSQL) -> Iterator[str]:
    with postgresql.database() as made:
        yield made.replace("postgres@", "postgres:hunter2@")


def test_a_store_is_moved_and_goes_on_there(run: Run, tmp_path: Path, url: str) -> None:
    run("keys", "create", "alice")
    run("credit", "default", "10")
    ran = run("move", "--to", url)
    assert (ran.code, ran.err) == (0, "")
    assert "api_key: 1 row\n" in ran.out
    assert ran.out.endswith("; now set url in [storage]\n")
    assert "hunter2" not in ran.out
    before = run("accounts", "show", "default").out
    (tmp_path / "zurelay.toml").write_text(f'[storage]\nurl = "{url}"\n')
    assert run("accounts", "show", "default").out == before
    assert "alice" in run("keys", "list").out
    assert "store.move" in run("audit").out
    assert "names a database already" in run("move", "--to", url).err
    (tmp_path / "zurelay.toml").unlink()
    again = run("move", "--to", url)
    assert (again.code, again.err.count("\n")) == (1, 1)
    assert "is not empty: there is something in account" in again.err


def test_what_the_journal_still_holds_is_delivered_there_once(
    run: Run, tmp_path: Path, url: str
) -> None:
    run("keys", "create", "alice")
    data = tmp_path / "zurelay-data"
    records = [a_record(cost=10), a_record(cost=2)]
    journal = Journal(data, ballast_mb=0)
    for number, record in enumerate(records):
        journal.append([entry(record)[1]], number)
    with closing(open_store(data)) as store:
        StoredLog(store).apply(journal.id, 1, [entry(records[0])])
    journal.close()
    assert run("move", "--to", url).code == 0
    (tmp_path / "zurelay.toml").write_text(f'[storage]\nurl = "{url}"\n')
    assert run("spool", "deliver", str(data)).out.startswith("1 record delivered")
    with closing(open_store(data, url)) as store, store.read() as connection:
        (usage,) = usage_by(connection, "key")
        assert (usage.requests, usage.cost) == (2, 12)


def test_the_address_is_taken_from_the_environment(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("keys", "create", "alice")
    monkeypatch.setenv("ZURELAY_MOVE_TO", url)
    assert run("move").code == 0


def test_a_folder_in_use_is_left_alone(run: Run, tmp_path: Path, url: str) -> None:
    run("keys", "create", "alice")
    server = FolderLock(tmp_path / "zurelay-data")
    ran = run("move", "--to", url)
    server.release()
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "another server" in ran.err


@pytest.mark.parametrize("to", ["mysql://u:hunter2@h/d", "zurelay.db"])
def test_another_target_is_refused(run: Run, to: str) -> None:
    run("keys", "create", "alice")
    ran = run("move", "--to", to)
    assert ran.code == 1
    assert "postgresql://" in ran.err
    assert "hunter2" not in ran.err


def test_without_a_store_there_is_nothing_to_move(run: Run, url: str) -> None:
    ran = run("move", "--to", url)
    assert ran.code == 1
    assert "there is no store in zurelay-data" in ran.err
