from sqlalchemy import insert

from tests.store.rows import ACCOUNT, NOON, a_key, a_record, entry
from zurelay.meter.record import Attempt
from zurelay.store import schema
from zurelay.store.accounts import ensure_account
from zurelay.store.engine import Store
from zurelay.store.keys import add_key, find_key
from zurelay.store.members import Member, add_member, find_member
from zurelay.store.people import Link, Person, Session, add_link, add_person, add_session
from zurelay.store.personal import (
    Subject,
    entries_of,
    erase_entries,
    erase_members,
    erase_names,
    nodes_at_work,
    people_of,
)
from zurelay.store.requests import Filter, add_requests, get_request, list_requests


def test_entries_of_a_subject_are_found_in_pieces(store: Store) -> None:
    records = [a_record(NOON + n, user="ann" if n % 2 else None) for n in range(6)]
    records.append(a_record(NOON, account="acct_2", user="ann"))
    with store.write() as connection:
        add_requests(connection, [entry(record) for record in records])
        for subject, count in (
            (Subject(ACCOUNT.id, None), 6),
            (Subject(None, "ann"), 4),
            (Subject(ACCOUNT.id, "ann"), 3),
            (Subject("acct_9", None), 0),
        ):
            assert len(entries_of(connection, subject, None, 50)) == count
        first = entries_of(connection, Subject(None, "ann"), None, 3)
        mark = (int(first[-1].id[4:16], 16), first[-1].id)
        assert len(entries_of(connection, Subject(None, "ann"), mark, 3)) == 1


def test_erased_entries_keep_their_amounts_and_lose_their_people(store: Store) -> None:
    record = a_record(
        user="ann",
        safety_identifier="s-ann",
        client="curl",
        client_request_id="c-1",
        address="192.0.2.1",
        attempts=[Attempt("a:b", 1, "m", "failed", 0.0, detail="you said: my secret")],
    )
    with store.write() as connection:
        add_requests(connection, [entry(record)])
        assert erase_entries(connection, [record]) == 1
        bare = get_request(connection, record.id, None)
        assert bare is not None
        assert erase_entries(connection, [bare]) == 0
        assert (bare.cost, bare.usage, bare.key) == (record.cost, record.usage, record.key)
        assert bare.attempts[0].route == "a:b"
        assert list_requests(connection, Filter(user="ann"), 5) == []
        text = connection.execute(schema.request.select()).one().record
    for word in ("ann", "docs", "curl", "c-1", "192.0.2.1", "secret"):
        assert word not in text


def test_members_and_names_of_dead_keys_are_forgotten(store: Store) -> None:
    with store.write() as connection:
        add_member(connection, Member("mem_1", ACCOUNT.id, "a@b.c", "Ann", "member", 5))
        add_key(connection, a_key(1, name="ann's", revoked=5))
        add_key(connection, a_key(2, name="old", expires=int(NOON)))
        add_key(connection, a_key(3, name="works"))
        assert erase_members(connection, ACCOUNT.id, NOON) == 1
        assert erase_members(connection, ACCOUNT.id, NOON) == 0
        member = find_member(connection, ACCOUNT.id, "mem_1")
        assert member is not None
        assert (member.email, member.name, member.removed) == ("erased:mem_1", "", int(NOON))
        assert erase_names(connection, ACCOUNT.id, NOON) == 2
        assert [find_key(connection, a_key(n).id).name for n in (1, 2, 3)] == [
            a_key(1).id,
            a_key(2).id,
            "works",
        ]
        assert erase_names(connection, ACCOUNT.id, NOON) == 0


def test_whoever_is_a_member_of_nothing_else_cannot_sign_in_any_more(store: Store) -> None:
    with store.write() as connection:
        ensure_account(connection, "team", "acct_2", NOON)
        for n, email in ((1, "ann@b.c"), (2, "bob@b.c")):
            add_member(connection, Member(f"mem_{n}", ACCOUNT.id, email, "X", "member", 5))
            add_person(connection, Person(f"prs_{n}", email, "X", None, None, 5))
            add_session(connection, Session(bytes([n]) * 32, f"prs_{n}", b"r" * 32, 5, 5, "agent"))
            add_link(connection, Link(bytes([n]) * 32, "password", email, "X", 5, 9))
        add_member(connection, Member("mem_3", "acct_2", "bob@b.c", "X", "member", 5))
        assert [one.email for one in people_of(connection, ACCOUNT.id)] == ["ann@b.c", "bob@b.c"]
        erase_members(connection, ACCOUNT.id, NOON)
        left = connection.execute(schema.person.select()).mappings().all()
        assert [row["email"] for row in left] == ["bob@b.c"]
        assert len(connection.execute(schema.console_session.select()).all()) == 1
        assert len(connection.execute(schema.console_link.select()).all()) == 1


def test_nodes_at_work_are_those_that_were_heard_of_lately(store: Store) -> None:
    with store.write() as connection:
        assert nodes_at_work(connection, NOON) == (0, 0)
        for name, seen, spool in (("a", NOON - 5, 2), ("b", NOON - 60, 3)):
            connection.execute(
                insert(schema.node).values(id=name, epoch=1, seen=int(seen), spool=spool)
            )
        assert nodes_at_work(connection, NOON) == (1, 5)
