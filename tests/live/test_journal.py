import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.rows import a_record
from zurelay.live.journal import Journal, JournalError
from zurelay.live.records import encode_record
from zurelay.meter.record import RequestRecord


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path, ballast_mb=0)
    yield opened
    opened.close()


def texts(*records: RequestRecord) -> list[bytes]:
    return [encode_record(record) for record in records]


def test_groups_come_back_in_order_and_whole(journal: Journal) -> None:
    records = [a_record(cost=n) for n in range(5)]
    assert journal.append(texts(*records[:2]), 0) == 1
    assert journal.append(texts(*records[2:]), 0) == 2
    assert list(journal.groups(0)) == [(1, records[:2]), (2, records[2:])]
    assert list(journal.groups(1)) == [(2, records[2:])]
    assert list(journal.groups(0, 1)) == [(1, records[:2])]


def test_groups_the_log_has_are_forgotten(journal: Journal) -> None:
    for _ in range(4):
        journal.append(texts(a_record()), 0)
    journal.append(texts(a_record()), 3)
    assert [seq for seq, _ in journal.groups(0)] == [4, 5]


def test_numbers_go_on_after_it_was_closed_and_above_what_the_log_knows(tmp_path: Path) -> None:
    first = Journal(tmp_path, ballast_mb=0)
    first.append(texts(a_record()), 0)
    first.close()
    again = Journal(tmp_path, ballast_mb=0)
    assert again.id == first.id
    assert again.append(texts(a_record()), 0) == 2
    again.continue_after(1)
    assert again.append(texts(a_record()), 0) == 3
    again.continue_after(10)
    assert again.append(texts(a_record()), 0) == 11
    again.close()


def test_a_new_journal_has_another_id(tmp_path: Path) -> None:
    ids = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        journal = Journal(tmp_path / name, ballast_mb=0)
        ids.add(journal.id)
        journal.close()
    assert len(ids) == 2


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ballast_mb=1)
    journal.append(texts(a_record()), 0)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert (tmp_path / "journal.ballast").stat().st_size == 2**20
    journal.close()


def test_power_safety_is_asked_of_the_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path, power_safe=True, ballast_mb=0)
    assert journal._write.execute("PRAGMA synchronous").fetchone() == (2,)
    journal.close()


def test_a_checkpoint_waits_until_it_is_worth_it_and_then_moves_the_pages(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.journal._CHECKPOINT_PAGES", 7)
    before = journal.path.stat().st_size
    journal.append([b"x" * 4096], 0)  # four pages
    journal.checkpoint()
    assert journal.path.stat().st_size == before
    journal.append([b"x" * 4096], 0)
    journal.checkpoint()
    assert journal.path.stat().st_size > before


def test_only_a_large_write_ahead_file_is_made_to_start_anew(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing has to wait for that, so it is left to SQLite as long as the file is small."""
    monkeypatch.setattr("zurelay.live.journal._CHECKPOINT_PAGES", 1)
    monkeypatch.setattr("zurelay.live.journal._RESTART_PAGES", 100)
    asked: list[str] = []
    journal._read.set_trace_callback(asked.append)
    journal.append([b"x" * 4096], 0)
    journal.checkpoint()
    assert asked == ["PRAGMA wal_checkpoint(PASSIVE)"]
    for _ in range(100):
        journal.append([b"x" * 4096], 0)
    journal.checkpoint()
    assert asked[1:] == ["PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(RESTART)"]


def test_a_damaged_journal_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"no database" * 500)
    with pytest.raises(JournalError, match=r"journal\.db: file is not a database"):
        Journal(tmp_path, ballast_mb=0)


def test_a_damaged_group_is_told_and_not_skipped(journal: Journal) -> None:
    journal.append(texts(a_record()), 0)
    journal.append([b'{"id":'], 0)
    groups = journal.groups(0)
    next(groups)
    with pytest.raises(JournalError, match=r"journal\.db"):
        next(groups)


def test_a_locked_journal_writes_nothing_and_works_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zurelay.live.journal._BUSY_S", 0.01)
    journal = Journal(tmp_path, ballast_mb=1)
    for _ in range(3):
        journal.append(texts(a_record()), 0)
    other = sqlite3.connect(journal.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for applied in (0, 2):
        with pytest.raises(JournalError, match="locked"):
            journal.append(texts(a_record()), applied)
    other.execute("ROLLBACK")
    other.close()
    assert (tmp_path / "journal.ballast").exists()
    assert journal.append(texts(a_record()), 2) == 4
    assert [seq for seq, _ in journal.groups(0)] == [3, 4]
    journal.close()


FULL_DISK = """
import resource, signal, sys, pathlib
from zurelay.live.journal import Journal, JournalError
folder, ballast = pathlib.Path(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(folder, ballast_mb=ballast)
size = journal.path.with_name("journal.db-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, resource.RLIM_INFINITY))
told = []
for n in range(20):
    try:
        journal.append([b"x" * 5000], n)
    except JournalError as error:
        told.append(str(error))
        if len(told) == 2:
            break
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
seq = journal.append([b"[]"], 0)
print(n, len(told), seq, (folder / "journal.ballast").exists())
"""


@pytest.mark.parametrize("ballast", [0, 1])
def test_a_full_disk_costs_the_ballast_then_is_told_and_is_survived(
    tmp_path: Path, ballast: int
) -> None:
    """A limit on the size of files stands for the full disk; giving up the ballast cannot help."""
    told = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), str(ballast)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    tried, failures, seq, has_ballast = told.stdout.split()
    assert int(failures) == 2
    assert int(seq) == int(tried)  # of the groups before it, two were not written
    assert has_ballast == "False"


def test_ballast_that_finds_no_room_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ballast_mb=0)
    journal._ballast_bytes = 2**62
    journal.restore_ballast()
    assert not (tmp_path / "journal.ballast").exists()
    journal.close()


def test_requests_that_a_process_left_under_way_become_a_group_that_costs_nothing(
    tmp_path: Path,
) -> None:
    first = Journal(tmp_path, ballast_mb=0)
    first.append(texts(a_record()), 0)
    left, over = (a_record(status="running", repeat="ab", postings={"w": 1}) for _ in range(2))
    first.mark([(one.id, encode_record(one)) for one in (left, over)], [])
    first.mark([], [over.id])
    first.close()
    again = Journal(tmp_path, ballast_mb=0)
    again.continue_after(7)
    assert again.interrupt() == 1
    (_, (found,)) = next(iter(again.groups(1)))
    assert (found.id, found.status) == (left.id, "interrupted")
    assert (found.repeat, found.postings) == (None, {})
    assert [seq for seq, _ in again.groups(0)] == [1, 8]
    assert again.interrupt() == 0
    assert again.append(texts(a_record()), 0) == 9
    again.close()


def test_marks_that_cannot_be_written_leave_the_journal_as_it_was(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ballast_mb=0)
    record = a_record(status="running")
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
        journal._write.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="locked"):
            journal.mark([(record.id, encode_record(record))], [])
        other.execute("ROLLBACK")
    assert journal.interrupt() == 0
    journal.close()
