"""People, sessions and links at rest, on SQLite and on PostgreSQL."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from tests.store.rows import ACCOUNT
from zurelay.store import people
from zurelay.store.engine import Store
from zurelay.store.members import Member, add_member
from zurelay.store.people import Link, Person, Session

ANN = Person("per_1", "ann@example.com", "Ann", None, None, 100)
SESSION = Session(b"s" * 32, ANN.id, b"r" * 32, 1000, 1000, "Firefox")
LINK = Link(b"l" * 32, "invitation", ANN.email, "Ann", 1000, 2000)


def member(id_: str, role: str, removed: int | None = None, email: str = ANN.email) -> Member:
    return Member(id_, ACCOUNT.id, email, "Ann", role, 100, removed)


def test_a_person_is_found_by_id_and_by_address(store: Store) -> None:
    with store.write() as connection:
        people.add_person(connection, ANN)
        people.change_person(connection, ANN.id, {"password": "x", "language": "nl"})
        changed = replace(ANN, password="x", language="nl")
        assert people.find_person(connection, ANN.id) == changed
        assert people.find_person(connection, ANN.email) == changed
        assert people.find_person(connection, "eve@example.com") is None


def test_an_address_is_one_persons(store: Store) -> None:
    with pytest.raises(IntegrityError), store.write() as connection:
        people.add_person(connection, ANN)
        people.add_person(connection, replace(ANN, id="per_2"))


def test_only_a_person_who_is_a_member_owns_the_gateway(store: Store) -> None:
    with store.write() as connection:
        add_member(connection, member("mem_1", "owner", removed=5))
        assert not people.there_is_an_owner(connection)
        assert people.memberships(connection, ANN.email) == []
        assert people.known_as_member(connection, ANN.email)
        other = member("mem_2", "owner", email="olga@example.com")
        add_member(connection, other)
        assert not people.there_is_an_owner(connection), "nobody has followed her link yet"
        people.add_person(connection, replace(ANN, id="per_2", email="olga@example.com"))
        assert people.there_is_an_owner(connection)
        assert [one.id for one in people.owners(connection)] == ["per_2"]
        assert people.memberships(connection, "olga@example.com") == [other]
        people.rename_members(connection, "olga@example.com", "new@example.com", "Olga New")
        assert people.memberships(connection, "olga@example.com") == []
        assert not people.known_as_member(connection, "olga@example.com")
        renamed = replace(other, email="new@example.com", name="Olga New")
        assert people.memberships(connection, "new@example.com") == [renamed]


def test_a_session_is_found_with_its_person(store: Store) -> None:
    with store.write() as connection:
        people.add_person(connection, ANN)
        people.add_session(connection, SESSION)
        people.saw_session(connection, SESSION.hash, 1500)
        assert people.find_session(connection, SESSION.hash) == (replace(SESSION, seen=1500), ANN)
        assert people.find_session(connection, b"x" * 32) is None
        people.end_session(connection, SESSION.hash)
        assert people.find_session(connection, SESSION.hash) is None


def test_sessions_of_a_person_end_together_or_all_but_one(store: Store) -> None:
    other = replace(SESSION, hash=b"t" * 32, seen=1200)
    with store.write() as connection:
        people.add_person(connection, ANN)
        people.add_session(connection, SESSION)
        people.add_session(connection, other)
        assert people.list_sessions(connection, ANN.id, 0) == [other, SESSION]
        assert people.list_sessions(connection, ANN.id, 1100) == [other]
        people.end_sessions(connection, ANN.id, but=SESSION.hash)
        assert people.list_sessions(connection, ANN.id, 0) == [SESSION]
        people.end_sessions(connection, ANN.id)
        assert people.list_sessions(connection, ANN.id, 0) == []


def test_a_link_takes_the_place_of_the_one_before_and_is_used_once(store: Store) -> None:
    newer = replace(LINK, hash=b"m" * 32)
    with store.write() as connection:
        people.add_link(connection, LINK)
        people.add_link(connection, replace(LINK, hash=b"n" * 32, kind="password"))
        people.add_link(connection, newer)
        assert people.find_link(connection, LINK.hash) is None
        assert people.find_link(connection, newer.hash) == newer
        assert people.find_link(connection, b"n" * 32) is not None
        assert people.use_link(connection, newer.hash)
        assert not people.use_link(connection, newer.hash)


def test_what_is_over_goes(store: Store) -> None:
    with store.write() as connection:
        people.add_person(connection, ANN)
        for seen, created, name in ((50, 50, b"i"), (200, 10, b"o"), (200, 200, b"g")):
            session = replace(SESSION, hash=name * 32, seen=seen, created=created)
            people.add_session(connection, session)
        people.add_link(connection, LINK)
        people.delete_over(connection, LINK.expires, seen=100, created=40)
        assert people.find_link(connection, LINK.hash) is not None
        assert [one.hash for one in people.list_sessions(connection, ANN.id, 0)] == [b"g" * 32]
        people.delete_over(connection, LINK.expires + 1, 0, 0)
        assert people.find_link(connection, LINK.hash) is None
