"""Mails and webhooks as personal data, on SQLite and on PostgreSQL."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.office.people import ACCOUNT, OWNER
from tests.office.test_links import invited
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.links import forgot, member_link
from zurelay.office.members import NewMember, add
from zurelay.office.notices import Notice, post
from zurelay.office.personal import SubjectForm, erase, export
from zurelay.store.outbox import claim


@pytest.fixture
def mailing(desk: Desk) -> Desk:
    return replace(desk, letters=lambda: Letterhead("https://ai.example.com", "Acme", ""))


def never(_: float) -> None:
    raise AssertionError("nobody is at work")


def posted(desk: Desk) -> dict[str, str]:
    """Mail to two members, one of them of another account too, and a webhook of each account."""
    other = create_account(desk, OWNER, NewAccount("other")).id
    invited(desk, "ann-4711@example.com")
    forgot(desk, "ann-4711@example.com")
    invited(desk, "bob@example.com")
    add(desk, OWNER, other, NewMember("bob@example.com", "Bob"))
    add(desk, OWNER, ACCOUNT.id, NewMember("eve-4711@example.com", "Eve"))
    _, text = member_link(desk, OWNER, ACCOUNT.id, "eve-4711@example.com")
    forgot(desk, "bob@example.com")
    with desk.store.write() as connection:
        hooks = [
            Notice("webhook", f"https://{account}.example.com/4711", account, "alert", "{}")
            for account in (ACCOUNT.id, other)
        ]
        post(connection, desk, hooks)
    return {"other": other, "link": text}


def test_all_that_was_sent_is_given_but_no_link(mailing: Desk) -> None:
    made = posted(mailing)
    lines = list(export(mailing, OWNER, SubjectForm(account=ACCOUNT.id)))
    found = [json.loads(line)["data"] for line in lines if json.loads(line)["kind"] == "notice"]
    assert {one["target"] for one in found} == {
        "ann-4711@example.com",
        "bob@example.com",
        "eve-4711@example.com",
        f"https://{ACCOUNT.id}.example.com/4711",
    }
    assert made["link"] not in "".join(lines)
    assert found[0]["subject"] == "You are invited to Acme"


def test_what_was_sent_is_erased_with_the_account(mailing: Desk, tmp_path: Path) -> None:
    made = posted(mailing)
    erase(mailing, OWNER, SubjectForm(account=ACCOUNT.id), sleep=never)
    with mailing.store.write() as connection:
        left = claim(connection, 2**50, 2**50, ["mail", "webhook"], 100)
    # Bob still belongs to the other account: what he asked for at the door is his.
    assert {one.target for one in left} == {
        "bob@example.com",
        f"https://{made['other']}.example.com/4711",
    }
    if mailing.store.kind == "sqlite":
        held = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())
        assert b"ann-4711" not in held
        assert b"eve-4711" not in held
