"""People of the console at rest: who may sign in, their sessions, and links that let them in.

Neither the text of a session nor of a link is kept, only its SHA-256. Knows no role's meaning.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, insert, select, update

from zurelay.store import schema
from zurelay.store.members import Member

_PERSON, _SESSION, _LINK = schema.person, schema.console_session, schema.console_link
_MEMBER = schema.member


@dataclass(frozen=True, slots=True)
class Person:
    """Who may sign in. `password` is an Argon2id hash; `created` in Unix seconds."""

    id: str
    email: str
    name: str
    password: str | None
    language: str | None
    created: int


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that somebody signed in with. Times in Unix seconds.

    Attributes:
        hash: SHA-256 of the cookie's text.
        roles: digest of the person's memberships when it began.
        agent: what the browser calls itself.
    """

    hash: bytes
    person: str
    roles: bytes
    created: int
    seen: int
    agent: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link that lets the person with that address in, once. Times in Unix seconds."""

    hash: bytes
    kind: str
    email: str
    name: str
    created: int
    expires: int


def add_person(connection: Connection, person: Person) -> None:
    """Write a new person."""
    connection.execute(
        insert(_PERSON).values(
            id=person.id,
            email=person.email,
            name=person.name,
            password=person.password,
            language=person.language,
            created=person.created,
        )
    )


def change_person(connection: Connection, id_: str, columns: Mapping[str, Any]) -> None:
    """Set columns of a person."""
    connection.execute(update(_PERSON).where(_PERSON.c.id == id_).values(**columns))


def names_of_people(
    connection: Connection, ids: Collection[str], account: str | None
) -> dict[str, str]:
    """Names by id, of those who are or were members of `account` if that is given."""
    query = select(_PERSON.c.id, _PERSON.c.name).where(_PERSON.c.id.in_(ids))
    if account is not None:
        theirs = select(_MEMBER.c.email).where(_MEMBER.c.account == account)
        query = query.where(_PERSON.c.email.in_(theirs))
    return {row.id: row.name for row in connection.execute(query)}


def find_person(connection: Connection, wanted: str) -> Person | None:
    """The person with that id or e-mail address."""
    query = select(_PERSON).where((_PERSON.c.id == wanted) | (_PERSON.c.email == wanted))
    row = connection.execute(query).mappings().first()
    return None if row is None else Person(**row)


def memberships(connection: Connection, email: str) -> list[Member]:
    """What the person with that address is a member of, oldest first."""
    query = (
        select(_MEMBER)
        .where(_MEMBER.c.email == email, _MEMBER.c.removed.is_(None))
        .order_by(_MEMBER.c.created, _MEMBER.c.id)
    )
    return [Member(**row) for row in connection.execute(query).mappings()]


def known_as_member(connection: Connection, email: str) -> bool:
    """Whether anybody with that address is or was a member of anything."""
    query = select(_MEMBER.c.id).where(_MEMBER.c.email == email).limit(1)
    return connection.execute(query).first() is not None


def there_is_an_owner(connection: Connection) -> bool:
    """Whether somebody who may sign in owns the gateway."""
    query = (
        select(_PERSON.c.id)
        .join(_MEMBER, _MEMBER.c.email == _PERSON.c.email)
        .where(_MEMBER.c.role == "owner", _MEMBER.c.removed.is_(None))
        .limit(1)
    )
    return connection.execute(query).first() is not None


def owners(connection: Connection) -> list[Person]:
    """The people who own the gateway, oldest first."""
    query = (
        select(_PERSON)
        .distinct()
        .join(_MEMBER, _MEMBER.c.email == _PERSON.c.email)
        .where(_MEMBER.c.role == "owner", _MEMBER.c.removed.is_(None))
        .order_by(_PERSON.c.created, _PERSON.c.id)
    )
    return [Person(**row) for row in connection.execute(query).mappings()]


def runners(connection: Connection) -> list[Person]:
    """The people who run the gateway, owners and admins, oldest first."""
    return _who(connection, _MEMBER.c.role.in_(("owner", "admin")))


def members_of(connection: Connection, account: str) -> list[Person]:
    """The people who are members of an account, oldest first."""
    return _who(connection, _MEMBER.c.account == account)


def rename_members(connection: Connection, old: str, new: str, name: str) -> None:
    """Let the memberships of an address be another's, under that name."""
    named = update(_MEMBER).where(_MEMBER.c.email == old).values(email=new, name=name)
    connection.execute(named)


def add_session(connection: Connection, session: Session) -> None:
    """Write a new session."""
    connection.execute(
        insert(_SESSION).values(
            hash=session.hash,
            person=session.person,
            roles=session.roles,
            created=session.created,
            seen=session.seen,
            agent=session.agent,
        )
    )


def find_session(connection: Connection, hash_: bytes) -> tuple[Session, Person] | None:
    """The session with that hash, and whose it is."""
    row = connection.execute(select(_SESSION).where(_SESSION.c.hash == hash_)).mappings().first()
    if row is None:
        return None
    session = _session(row)
    person = find_person(connection, session.person)
    return None if person is None else (session, person)


def list_sessions(connection: Connection, person: str, since: int) -> list[Session]:
    """A person's sessions that were seen since Unix second `since`, last seen first."""
    query = (
        select(_SESSION)
        .where(_SESSION.c.person == person, _SESSION.c.seen >= since)
        .order_by(_SESSION.c.seen.desc(), _SESSION.c.hash)
    )
    return [_session(row) for row in connection.execute(query).mappings()]


def saw_session(connection: Connection, hash_: bytes, now: int) -> None:
    """It was used."""
    connection.execute(update(_SESSION).where(_SESSION.c.hash == hash_).values(seen=now))


def end_session(connection: Connection, hash_: bytes) -> None:
    """Delete one."""
    connection.execute(delete(_SESSION).where(_SESSION.c.hash == hash_))


def end_sessions(connection: Connection, person: str, but: bytes = b"") -> None:
    """Delete all of a person's, but the one with that hash."""
    connection.execute(delete(_SESSION).where(_SESSION.c.person == person, _SESSION.c.hash != but))


def add_link(connection: Connection, link: Link) -> None:
    """Write a new link; earlier ones of its kind for the same person are good for nothing now."""
    connection.execute(delete(_LINK).where(_LINK.c.email == link.email, _LINK.c.kind == link.kind))
    connection.execute(
        insert(_LINK).values(
            hash=link.hash,
            kind=link.kind,
            email=link.email,
            name=link.name,
            created=link.created,
            expires=link.expires,
        )
    )


def find_link(connection: Connection, hash_: bytes) -> Link | None:
    """The link with that hash."""
    row = connection.execute(select(_LINK).where(_LINK.c.hash == hash_)).mappings().first()
    return None if row is None else Link(**row)


def link_since(connection: Connection, email: str, kind: str, since: int) -> bool:
    """Whether a link of that kind was made for that address since Unix second `since`."""
    query = select(_LINK.c.hash).where(
        _LINK.c.email == email, _LINK.c.kind == kind, _LINK.c.created > since
    )
    return connection.execute(query.limit(1)).first() is not None


def use_link(connection: Connection, hash_: bytes) -> bool:
    """Delete a link; False if somebody was first."""
    return connection.execute(delete(_LINK).where(_LINK.c.hash == hash_)).rowcount == 1


def delete_over(connection: Connection, links: int, seen: int, created: int) -> None:
    """Delete links that expired before `links`, and sessions not used since `seen` or too old."""
    connection.execute(delete(_LINK).where(_LINK.c.expires < links))
    connection.execute(
        delete(_SESSION).where((_SESSION.c.seen < seen) | (_SESSION.c.created < created))
    )


def _who(connection: Connection, which: ColumnElement[bool]) -> list[Person]:
    """People with such a membership, each once."""
    emails = select(_MEMBER.c.email).where(which, _MEMBER.c.removed.is_(None))
    query = select(_PERSON).where(_PERSON.c.email.in_(emails))
    query = query.order_by(_PERSON.c.created, _PERSON.c.id)
    return [Person(**row) for row in connection.execute(query).mappings()]


def _session(row: RowMapping) -> Session:
    return Session(**row)
