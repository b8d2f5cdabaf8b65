"""Who reads stored messages, what is told where there are none, and that operators leave a line."""

import json

import pytest

from tests.office.people import ADMIN, MEMBER, OWNER, READER, STRANGER, audited, refusal
from tests.store.rows import ACCOUNT, Clock, a_record, entry
from zurelay.meter.content import DAY_S, Content, Stored, expires_at
from zurelay.meter.record import RequestRecord
from zurelay.office import contents
from zurelay.office.desk import Desk
from zurelay.office.keys import KeyChange, NewKey, change_key, create_key, get_key
from zurelay.office.personal import SubjectForm, erase, export
from zurelay.store.content import StoredContents
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests
from zurelay.store.retention import delete_contents
from zurelay.store.sealing import Sealer

SEALER = Sealer(["k" * 32])
CHAT = Content(
    "openai_chat",
    b'{"messages":[{"role":"user","content":"the moon"}]}',
    b'{"choices":[{"message":{"role":"assistant","content":"is cheese"}}]}',
    ended=True,
)


@pytest.fixture
def desk(store: Store, clock: Clock) -> Desk:
    return Desk(store, clock, sealer=lambda: SEALER)


def with_key(desk: Desk, days: int | None = 10) -> str:
    return create_key(desk, OWNER, NewKey("alice", store_days=days)).details.id


def log(desk: Desk, key: str, *, stored: int | None = 10, user: str | None = None) -> RequestRecord:
    record = a_record(key=key, user=user)
    with desk.store.write() as connection:
        add_requests(connection, [entry(record)])
    if stored is not None:
        made = StoredContents(desk.store)
        made.sealer = SEALER
        one = Stored(
            record.id,
            record.created,
            record.account,
            record.key,
            record.user,
            expires_at(record.created, stored),
            CHAT,
        )
        made.add([(one, made.seal(one))])
    return record


def test_members_read_what_their_keys_were_asked_and_answered(desk: Desk) -> None:
    record = log(desk, with_key(desk))
    found = contents.read(desk, MEMBER, record.id)
    assert (found.state, found.format, found.ended) == ("stored", "openai_chat", True)
    assert [one.pieces[0].text for one in found.messages] == ["the moon", "is cheese"]
    assert found.body == CHAT.body.decode()
    assert all(line.action != "content.read" for line in audited(desk))


def test_whoever_runs_the_gateway_leaves_a_line_each_time(desk: Desk) -> None:
    record = log(desk, with_key(desk))
    assert contents.state_of(desk, OWNER, record.id).state == "stored"
    assert all(line.action != "content.read" for line in audited(desk))
    contents.read(desk, OWNER, record.id)
    contents.read(desk, ADMIN, record.id)
    lines = [line for line in audited(desk) if line.action == "content.read"]
    assert [(line.actor, line.target, line.account) for line in lines] == [
        (OWNER.name, record.id, ACCOUNT.id),
        (ADMIN.name, record.id, ACCOUNT.id),
    ]


def test_nobody_else_reads_it(desk: Desk) -> None:
    record = log(desk, with_key(desk))
    for call in (contents.read, contents.state_of):
        assert refusal(call, desk, READER, record.id).status == 403
        assert refusal(call, desk, STRANGER, record.id).status == 404
        assert refusal(call, desk, OWNER, "req_nothing").status == 404


def test_what_is_not_there_says_why(desk: Desk, clock: Clock) -> None:
    key, other = with_key(desk), with_key(desk, None)
    there = log(desk, key, stored=10)
    dropped, off = log(desk, key, stored=None), log(desk, other, stored=None)

    def state(record: RequestRecord) -> str:
        return contents.read(desk, MEMBER, record.id).state

    assert (state(there), state(dropped), state(off)) == ("stored", "missing", "off")
    closed = Desk(desk.store, clock)
    assert contents.read(closed, OWNER, there.id).state == "unreadable"
    changed = Desk(desk.store, clock, sealer=lambda: Sealer(["other" * 10]))
    assert contents.read(changed, OWNER, there.id).state == "unreadable"
    assert all(line.action != "content.read" for line in audited(desk))
    clock.now += 10 * DAY_S
    assert (state(there), state(dropped), state(off)) == ("expired", "expired", "off")


def test_messages_of_one_request_cannot_be_shown_as_another_s(desk: Desk) -> None:
    from sqlalchemy import update

    from zurelay.store import schema

    key = with_key(desk)
    first = log(desk, key)
    second = log(desk, key, stored=None)
    with desk.store.write() as connection:
        connection.execute(update(schema.content).values(request=second.id))
    assert contents.read(desk, MEMBER, second.id).state == "unreadable"
    assert contents.read(desk, MEMBER, first.id).state == "missing"


def test_storing_needs_a_key_to_encrypt_with(desk: Desk, clock: Clock) -> None:
    closed = Desk(desk.store, clock)
    told = refusal(create_key, closed, OWNER, NewKey("bob", store_days=3))
    assert (told.status, told.code, told.param) == (409, "conflict", "store_days")
    assert "[log] content_key" in told.message
    key = with_key(desk)
    assert change_key(closed, OWNER, key, KeyChange(store_days=5)).store_days == 5
    assert change_key(closed, OWNER, key, KeyChange(store_days=None)).store_days is None
    assert refusal(change_key, closed, OWNER, key, KeyChange(store_days=1)).status == 409


def test_whoever_changes_an_account_s_keys_decides_what_is_stored(desk: Desk) -> None:
    made = create_key(desk, MEMBER, NewKey("bob", account=ACCOUNT.id, store_days=3)).details
    assert made.store_days == 3
    assert change_key(desk, MEMBER, made.id, KeyChange(store_days=9)).store_days == 9
    assert change_key(desk, MEMBER, made.id, KeyChange(store_days=None)).store_days is None
    assert get_key(desk, READER, made.id).store_days is None
    assert refusal(change_key, desk, READER, made.id, KeyChange(store_days=1)).status == 403
    assert refusal(change_key, desk, STRANGER, made.id, KeyChange(store_days=1)).status == 404
    line = audited(desk)[-1]
    assert (line.action, line.detail) == ("key.change", {"store_days": [9, None]})


def test_fewer_days_count_for_what_is_stored_and_off_deletes_nothing(desk: Desk) -> None:
    key = with_key(desk, 10)
    record = log(desk, key)
    change_key(desk, OWNER, key, KeyChange(store_days=2))
    day = contents.state_of(desk, OWNER, record.id).expires
    change_key(desk, OWNER, key, KeyChange(store_days=None))
    assert day == "2026-12-01T12:00:00Z"
    found = contents.state_of(desk, OWNER, record.id)
    assert (found.state, found.expires) == ("stored", day)


def test_all_of_a_key_can_be_deleted(desk: Desk) -> None:
    key, other = with_key(desk), with_key(desk)
    log(desk, key)
    gone, kept = log(desk, key), log(desk, other)
    assert contents.count(desk, MEMBER, key) == 2
    assert refusal(contents.forget, desk, READER, key).status == 403
    assert refusal(contents.forget, desk, STRANGER, key).status == 404
    assert contents.forget(desk, MEMBER, key).deleted == 2
    assert contents.count(desk, MEMBER, key) == 0
    assert contents.read(desk, MEMBER, gone.id).state == "missing"
    assert contents.read(desk, MEMBER, kept.id).state == "stored"
    assert audited(desk)[-1].detail == {"name": "alice", "requests": 2}


@pytest.mark.parametrize("form", [SubjectForm(account="default"), SubjectForm(user="ann")])
def test_personal_data_is_given_and_erased_with_its_messages(desk: Desk, form: SubjectForm) -> None:
    key = with_key(desk)
    ids = {log(desk, key, user="ann").id for _ in range(25)}
    log(desk, key, user="bob")
    lines = [json.loads(line) for line in export(desk, OWNER, form)]
    given = {one["data"]["request"]: one["data"] for one in lines if one["kind"] == "content"}
    assert ids <= set(given)
    assert {one["messages"][0]["pieces"][0]["text"] for one in given.values()} == {"the moon"}
    done = erase(desk, OWNER, form, sleep=lambda _: None)
    assert done.contents == (26 if form.user is None else 25)
    assert contents.count(desk, OWNER, key) == (0 if form.user is None else 1)


def test_what_cannot_be_read_is_still_told_of(desk: Desk, clock: Clock) -> None:
    record = log(desk, with_key(desk))
    closed = Desk(desk.store, clock)
    lines = [json.loads(line) for line in export(closed, OWNER, SubjectForm(account="default"))]
    (found,) = [one["data"] for one in lines if one["kind"] == "content"]
    assert (found["request"], found["state"], found["body"]) == (record.id, "unreadable", None)


def test_what_is_over_is_deleted_in_small_steps(
    desk: Desk, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zurelay.store import retention

    monkeypatch.setattr(retention, "CONTENTS", 2)
    key = with_key(desk)
    for _ in range(5):
        log(desk, key, stored=1)
    log(desk, key, stored=3)
    assert delete_contents(desk.store, clock.now + DAY_S, None) == 5
    assert delete_contents(desk.store, clock.now + DAY_S, clock.now + 1) == 1
