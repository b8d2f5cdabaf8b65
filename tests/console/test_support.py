"""Support in the console: asked by members, answered by operators, marked until read."""

import time
from collections.abc import Callable

import pytest

from tests.console.history import requests, write
from tests.console.people import OWNER, Person
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.keys import list_keys
from zurelay.office.pages import Page
from zurelay.office.support import Question, ask, list_threads
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/support"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"
NEW = ">new</span>"


async def test_a_member_asks_and_an_operator_answers(people: Of) -> None:
    member, admin = people("member"), people("admin")
    seen = await member.post(HOME, {"subject": "Slow answers", "body": "Why?\r\n\r\nAnn"})
    assert "Sent. The answer shows here." in seen.text
    thread = seen.url.rpartition("/")[2]
    assert NEW not in (await member.get(HOME)).text
    text = (await admin.get(HOME)).text
    assert NEW in text
    assert "waits for an answer" in text
    assert "Why?\n\nAnn" in (await admin.get(f"{HOME}/{thread}")).text
    assert NEW not in (await admin.get(HOME)).text
    seen = await admin.post(f"{HOME}/{thread}", {"body": "It was busy."})
    assert "It was busy." in seen.text
    assert NEW in (await member.get(HOME)).text
    seen = await member.get(f"{HOME}/{thread}")
    assert ">operator</span>" in seen.text
    seen = await member.post(f"{HOME}/{thread}/close")
    assert "It is settled." in seen.text


async def test_a_question_about_a_request_has_its_id_filled_in(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    seen = await member.get(f"{HOME}?request=req_4711")
    assert 'value="req_4711"' in seen.text
    form = {"subject": "x", "body": "y", "request": "req_4711"}
    seen = await member.post(HOME, form)
    assert (seen.status, "There is no such request in this account." in seen.text) == (400, True)
    assert list_threads(Desk(gateway.store), OWNER, Page()).data == []


async def test_a_requests_page_leads_to_a_question_about_it_for_each_side(
    people: Of, gateway: RunningGateway
) -> None:
    key = list_keys(Desk(gateway.store), OWNER, Page()).data[0]
    [one] = requests(time.time(), 1, key.account, (key.id,), days=0.01)
    write(gateway.store, iter([one]))
    for role, more in (("member", ""), ("admin", f"&amp;account={key.account}")):
        person = people(role)
        link = f'href="{HOME}/new?request={one.id}{more}"'
        text = (await person.get(f"/console/requests/{one.id}")).text
        assert link in text.replace("&account", "&amp;account")
        seen = await person.get(f"{HOME}/new?request={one.id}&account={key.account}")
        assert f'value="{one.id}"' in seen.text
        form = {"subject": role, "body": "y", "request": one.id, "account": key.account}
        assert "Sent. The answer shows here." in (await person.post(HOME, form)).text
    assert "Ask about it" not in (await people("read-only").get(f"/console/requests/{one.id}")).text


@pytest.mark.parametrize(
    ("field", "said"), [("subject", "Write 1 to 200 characters"), ("body", "Write 1 to 10,000")]
)
async def test_what_is_missing_is_said_and_the_rest_stays(
    field: str, said: str, people: Of
) -> None:
    form = {"subject": "Kept subject", "body": "Kept body"} | {field: ""}
    seen = await people("member").post(HOME, form)
    assert (seen.status, said in seen.text, "Kept " in seen.text) == (400, True, True)


async def test_the_menu_counts_what_each_side_has_not_read_on_every_page(people: Of) -> None:
    member, admin, reader = people("member"), people("admin"), people("read-only")
    count = '<span class="visually-hidden">1 not read</span>'
    seen = await member.post(HOME, {"subject": "Slow", "body": "Why?"})
    thread = seen.url.rpartition("/")[2]
    assert count in (await admin.get("/console/profile")).text
    assert count not in (await member.get("/console/profile")).text
    assert count not in (await admin.get(f"{HOME}/{thread}")).text
    await admin.post(f"{HOME}/{thread}", {"body": "It was busy."})
    assert count in (await member.get("/console/keys")).text
    assert count in (await reader.get("/console")).text
    assert count not in (await admin.get("/console")).text
    await member.get(f"{HOME}/{thread}")
    assert count not in (await member.get("/console")).text


async def test_threads_of_another_account_do_not_exist_for_a_member(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    create_account(desk, OWNER, NewAccount("other"))
    theirs = ask(desk, OWNER, "Olga", Question("other", "Theirs", "x"))
    member = people("member")
    assert "Theirs" not in (await member.get(HOME)).text
    assert (await member.get(f"{HOME}/{theirs.id}")).status == 404
    assert (await member.post(f"{HOME}/{theirs.id}", {"body": "mine"})).status == 404
    await member.post(HOME, {"account": "other", "subject": "sneaky", "body": "x"})
    threads = list_threads(desk, OWNER, Page(), "other").data
    assert [one.subject for one in threads] == ["Theirs"]


async def test_what_people_write_is_text_and_nothing_else(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    seen = await member.post(HOME, {"subject": NASTY, "body": NASTY})
    thread = seen.url.rpartition("/")[2]
    for somebody in (member, people("owner")):
        for path in (HOME, f"{HOME}/{thread}"):
            seen = await somebody.get(path)
            assert "<script>alert" not in seen.text
            assert "&lt;script&gt;alert(1)" in seen.text


async def test_who_only_reads_writes_nothing(people: Of) -> None:
    reader = people("read-only")
    assert "/console/support/new" not in (await reader.get(HOME)).text
    assert (await reader.post(HOME, {"subject": "x", "body": "y"})).status == 403
