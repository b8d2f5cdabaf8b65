import json

import pytest

from tests.office.people import ADMIN, MEMBER, NOON, OWNER, READER, STRANGER, audited, refusal
from tests.store.rows import ACCOUNT, Clock, a_record, entry
from zurelay.office import support
from zurelay.office.desk import Desk
from zurelay.office.pages import Page
from zurelay.office.personal import SubjectForm, erase, export
from zurelay.office.support import Question, ThreadView, answer, ask, close, list_threads, read
from zurelay.store.requests import add_requests


def asked(desk: Desk, **changes: str) -> ThreadView:
    fields = {"account": ACCOUNT.id, "subject": "Slow answers", "body": "Why?\n\nAnn"}
    return ask(desk, MEMBER, "Ann", Question(**(fields | changes)))


def unread(desk: Desk) -> tuple[bool, bool]:
    """For members, for operators."""
    mine, theirs = (list_threads(desk, actor, Page()).data[0] for actor in (MEMBER, ADMIN))
    return mine.unread, theirs.unread


def test_each_side_sees_what_the_other_wrote_until_it_looks(desk: Desk, clock: Clock) -> None:
    made = asked(desk)
    assert (unread(desk), made.waiting) == ((False, True), True)
    view, messages = read(desk, ADMIN, made.id)
    assert (view.unread, messages[0].body, messages[0].operator) == (True, "Why?\n\nAnn", False)
    assert unread(desk) == (False, False)
    clock.now += 1
    answer(desk, ADMIN, "Olga", made.id, "Because.")
    assert unread(desk) == (True, False)
    view, messages = read(desk, MEMBER, made.id)
    assert (view.waiting, [one.operator for one in messages]) == (False, [False, True])
    assert unread(desk) == (False, False)


def test_a_settled_question_is_open_again_once_somebody_writes(desk: Desk) -> None:
    made = asked(desk)
    close(desk, ADMIN, made.id)
    close(desk, ADMIN, made.id)
    view, _ = read(desk, MEMBER, made.id)
    assert (view.closed is not None, view.waiting) == (True, False)
    answer(desk, MEMBER, "Ann", made.id, "No, still.")
    view, _ = read(desk, MEMBER, made.id)
    assert (view.closed, view.waiting) == (None, True)


def test_the_audit_log_says_who_wrote_and_never_what(desk: Desk) -> None:
    made = asked(desk)
    answer(desk, ADMIN, "Olga", made.id, "Because.")
    close(desk, MEMBER, made.id)
    lines = [(one.action, one.target, one.detail) for one in audited(desk)]
    assert lines == [(f"support.{what}", made.id, {}) for what in ("ask", "answer", "close")]


def test_other_accounts_have_no_such_thread(desk: Desk) -> None:
    made = asked(desk)
    assert list_threads(desk, STRANGER, Page()).data == []
    assert refusal(read, desk, STRANGER, made.id).status == 404
    assert refusal(answer, desk, STRANGER, "Eve", made.id, "x").status == 404
    assert refusal(close, desk, STRANGER, made.id).status == 404
    form = Question(ACCOUNT.id, "x", "x")
    assert refusal(ask, desk, STRANGER, "Eve", form).status == 404
    assert refusal(answer, desk, READER, "Rita", made.id, "x").status == 403


def test_a_question_may_be_about_a_request_of_its_own_account(desk: Desk) -> None:
    record = a_record(NOON)
    with desk.store.write() as connection:
        add_requests(connection, [entry(record)])
    assert asked(desk, request=record.id).request == record.id
    problem = refusal(asked, desk, request="req_nothing")
    assert (problem.status, problem.param) == (400, "request")


@pytest.mark.parametrize(
    ("field", "value"), [("subject", " "), ("subject", "a\nb"), ("body", " \n"), ("body", "\x00x")]
)
def test_what_nobody_can_read_is_refused(desk: Desk, field: str, value: str) -> None:
    problem = refusal(asked, desk, **{field: value})
    assert (problem.status, problem.param) == (400, field)


def test_questions_and_messages_are_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "MOST_OPEN", 1)
    monkeypatch.setattr(support, "MOST_MESSAGES", 2)
    made = asked(desk)
    assert refusal(asked, desk).status == 409
    answer(desk, ADMIN, "Olga", made.id, "x")
    assert refusal(answer, desk, ADMIN, "Olga", made.id, "x").status == 409


def test_an_account_gets_what_was_written_and_it_can_be_erased(desk: Desk) -> None:
    asked(desk)
    lines = [json.loads(line) for line in export(desk, OWNER, SubjectForm(account=ACCOUNT.id))]
    [told] = [line["data"] for line in lines if line["kind"] == "support"]
    assert (told["subject"], told["messages"][0]["body"]) == ("Slow answers", "Why?\n\nAnn")
    erase(desk, OWNER, SubjectForm(account=ACCOUNT.id), sleep=lambda _: None)
    assert list_threads(desk, OWNER, Page()).data == []
