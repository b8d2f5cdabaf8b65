import pytest

from tests.office.people import ADMIN, OWNER, READER, audited, refusal
from tests.store.rows import Clock
from zurelay.chat.problems import Refused
from zurelay.office.desk import Desk, conflict, no_such, wrong


def test_ids_rise_though_the_clock_stands_still(desk: Desk) -> None:
    made = [desk.new_id("aud_") for _ in range(50)]
    assert made == sorted(made)
    assert len(set(made)) == 50
    assert {len(one) for one in made} == {32}
    assert len({desk.random_id("key_") for _ in range(50)}) == 50


def test_a_change_without_an_audit_line_is_a_bug_and_is_not_kept(desk: Desk) -> None:
    with pytest.raises(AssertionError), desk.change(OWNER, "keys.change") as change:
        change.connection.exec_driver_sql("DELETE FROM account")
    with desk.store.read() as connection:
        rows = connection.exec_driver_sql("SELECT count(*) FROM account").scalar_one()
    assert rows == 1


def test_a_change_and_its_audit_lines_are_kept_together_or_not_at_all(
    desk: Desk, clock: Clock
) -> None:
    with desk.change(ADMIN, "keys.change") as change:
        change.did("key.create", "key_1", "acct_1", {"name": "a"})
        change.did("key.change", "key_1", "acct_1", {"rpm": [None, 5]})
    with pytest.raises(ZeroDivisionError), desk.change(ADMIN, "keys.change") as change:
        change.did("key.revoke", "key_1", "acct_1", {})
        raise ZeroDivisionError
    with desk.change(ADMIN, "keys.change") as change:
        change.did_nothing()
    lines = audited(desk)
    assert [line.action for line in lines] == ["key.create", "key.change"]
    assert (lines[0].actor, lines[0].created) == ("token:ci", "2026-11-29T12:00:00Z")
    assert lines[1].detail == {"rpm": [None, 5]}


def test_without_the_right_nothing_begins(desk: Desk) -> None:
    with pytest.raises(Refused), desk.change(READER, "keys.change"):
        raise AssertionError
    with pytest.raises(Refused), desk.read(READER, "personal.export"):
        raise AssertionError
    with desk.read(READER, "keys.read") as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1


def test_refusals_have_their_status_and_name_their_field() -> None:
    def refuse(refused: Refused) -> None:
        raise refused

    assert refusal(refuse, conflict("No.", "name")).status == 409
    assert refusal(refuse, wrong("rpm", "No.")).param == "rpm"
    missing = refusal(refuse, no_such("key", "a\x1b[31m"))
    assert (missing.status, missing.message) == (404, "There is no key 'a [31m'.")
