from dataclasses import replace

import pytest

from tests.office.people import ADMIN, MEMBER, refusal
from zurelay.letters.texts import ANSWER
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.notices import UNSENT_S, Notice, Unsent, language_of, mail, post, unsent
from zurelay.store.engine import Store
from zurelay.store.outbox import claim, count_waiting, finish
from zurelay.store.people import Person, add_person

MAIL = Notice("mail", "ann@example.com", "acct_1", "Over\r\nBcc: x", "Your budget is spent.")
HOOK = Notice("webhook", "https://example.com/in", None, "alert", '{"a":1}', "whsec_abc")


@pytest.fixture
def mailing(desk: Desk) -> Desk:
    head = Letterhead("https://ai.example.com", "Acme", "")
    return Desk(desk.store, clock=lambda: 100.0, letters=lambda: head)


def test_a_notice_waits_with_all_that_sending_it_needs(mailing: Desk) -> None:
    with mailing.store.write() as connection:
        post(connection, mailing, [MAIL, HOOK])
        mail, hook = claim(connection, 100_000, 200_000, ["mail", "webhook"], 10)
    assert (mail.target, mail.account, mail.subject) == ("ann@example.com", "acct_1", "Over Bcc: x")
    assert (mail.body, mail.secret, mail.due_ms) == ("Your budget is spent.", None, 200_000)
    assert (hook.body, hook.secret, hook.account) == ('{"a":1}', "whsec_abc", None)


def test_a_notice_goes_with_its_transaction(mailing: Desk) -> None:
    def failing() -> None:
        with mailing.store.write() as connection:
            post(connection, mailing, [MAIL])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert waiting(mailing.store) == 0


def test_without_a_server_of_mail_only_webhooks_wait(desk: Desk) -> None:
    with desk.store.write() as connection:
        post(connection, desk, [MAIL, HOOK])
    assert waiting(desk.store) == 1


def test_a_mail_is_written_with_the_gateways_name_and_address(mailing: Desk, desk: Desk) -> None:
    (made,) = mail(mailing, "a@b.nl", "acct_1", "nl", ANSWER, path="/console/x", subject="Slow")
    assert (made.kind, made.target, made.account) == ("mail", "a@b.nl", "acct_1")
    assert made.subject == "Een antwoord op uw vraag: Slow"
    assert "\nhttps://ai.example.com/console/x\n" in made.body
    assert mail(desk, "a@b.nl", None, "nl", ANSWER, subject="Slow") == []


def test_people_are_written_to_in_the_language_they_chose(mailing: Desk) -> None:
    with mailing.store.write() as connection:
        for name, language in (("ann", "fr"), ("bob", None)):
            person = Person(f"per_{name}", f"{name}@b.nl", name, None, language, 1)
            add_person(connection, person)
        assert language_of(connection, "ann@b.nl", "nl") == "fr"
        assert language_of(connection, "bob@b.nl", "nl") == "nl"
        assert language_of(connection, "nobody@b.nl") == "en"


def test_what_could_not_be_sent_is_told_to_operators_for_a_week(mailing: Desk) -> None:
    assert unsent(mailing, ADMIN) is None
    with mailing.store.write() as connection:
        post(connection, mailing, [MAIL, replace(HOOK, target="https://b.nl/in?key=secret")])
        for row in claim(connection, 100_000, 200_000, ["mail", "webhook"], 10):
            finish(connection, row.id, None, "it says 550")
    assert unsent(mailing, ADMIN) == Unsent(2, "b.nl", "it says 550")
    assert unsent(replace(mailing, clock=lambda: 100.1 + UNSENT_S), ADMIN) is None
    assert refusal(unsent, mailing, MEMBER).status == 403


def waiting(store: Store) -> int:
    with store.read() as connection:
        return count_waiting(connection)
