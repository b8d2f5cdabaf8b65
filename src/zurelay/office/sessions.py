"""Who is signed in to the console: sessions begin, are resumed at every call, and end.

A session's text is in its cookie alone. It ends by itself after 12 hours without use or 7 days, and
at once when its person's roles or password change. Knows no HTTP.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, cast

from sqlalchemy import Connection

from zurelay.access.accounts import Account
from zurelay.access.tokens import Role
from zurelay.chat.problems import Problem, Refused
from zurelay.office.desk import Change, Desk
from zurelay.office.notices import FIRST_OWNER
from zurelay.office.passwords import hashed, verified
from zurelay.office.rights import Actor
from zurelay.store import people
from zurelay.store.accounts import find_account, list_accounts
from zurelay.store.members import Member
from zurelay.store.people import Person, Session

IDLE_S: Final = 12 * 3600
LIFE_S: Final = 7 * 86_400
SEEN_S: Final = 60
"""How often at most it is written down that a session was used."""

_RUNNERS: Final[tuple[Role, ...]] = ("owner", "admin")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is signed in.

    Attributes:
        memberships: what they are a member of; never empty.
        text: of the session, as the cookie has it.
    """

    person: Person
    memberships: tuple[Member, ...]
    session: Session
    text: str

    @property
    def nameless(self) -> bool:
        """Whether they came by the first start's link and gave no address of their own yet."""
        return self.person.email == FIRST_OWNER

    @property
    def runs_the_gateway(self) -> bool:
        """Whether they see all accounts."""
        return any(one.role in _RUNNERS for one in self.memberships)

    def actor(self, account: str | None) -> Actor:
        """Who acts, where that account is looked at; their first one where it is none of theirs."""
        name = f"person:{self.person.id}"
        for role in _RUNNERS:
            if any(one.role == role for one in self.memberships):
                return Actor(name, role)
        chosen = next((one for one in self.memberships if one.account == account), None)
        member = chosen or self.memberships[0]
        return Actor(name, cast("Role", member.role), member.account)


def sign_in(desk: Desk, email: str, password: str, agent: str) -> Visitor:
    """Begin a session with e-mail address and password. Takes some 20 ms.

    Raises:
        Refused: 401, the same for every reason.
    """
    email = email.strip().lower()[:254]
    with desk.store.read() as connection:
        person = people.find_person(connection, email)
    known = None if person is None or "@" not in email else person.password
    if not verified(known, password) or person is None:
        raise Refused(Problem(401, "authentication_error", "wrong_password", "Wrong.", None))
    with acting(desk, person) as change:
        return begin(change, person, agent)


def sign_in_as(desk: Desk, email: str, name: str, agent: str) -> Visitor:
    """Begin a session of somebody whom another provider vouches for.

    Args:
        desk: where.
        email: an address that is known to be theirs, in small letters.
        name: what to call them, if they were never here.
        agent: what the browser calls itself.

    Raises:
        Refused: 403 for a member of nothing.
    """
    with desk.store.write() as connection:
        person = people.find_person(connection, email)
        if person is None:
            now = int(desk.clock())
            person = Person(desk.random_id("per_"), email, name, None, None, now)
            people.add_person(connection, person)
        actor = Actor(f"person:{person.id}", "read-only")
        change = Change(desk, actor, connection, desk.clock())
        visitor = begin(change, person, agent)
        change.close()
        return visitor


def begin(change: Change, person: Person, agent: str) -> Visitor:
    """A new session in a change under way. Raises Refused: 403 for a member of nothing."""
    memberships = tuple(people.memberships(change.connection, person.email))
    if not memberships:
        raise Refused(Problem(403, "permission_error", "no_account", "Member of nothing.", None))
    text = secret_text(change.desk)
    now = int(change.now)
    session = Session(
        digest(text), person.id, roles_of(memberships), now, now, agent[:200].replace("\0", "")
    )
    people.delete_over(change.connection, now, now - IDLE_S, now - LIFE_S)
    people.add_session(change.connection, session)
    change.did("session.begin", person.id, None, {})
    return Visitor(person, memberships, session, text)


def resume(desk: Desk, text: str) -> Visitor | None:
    """Who the session with that text belongs to; None where it is over.

    Raises:
        StoreError: the store does not answer.
    """
    hash_ = digest(text)
    now = int(desk.clock())
    with desk.store.read() as connection:
        found = people.find_session(connection, hash_)
        if found is None:
            return None
        session, person = found
        memberships = tuple(people.memberships(connection, person.email))
    over = session.seen + IDLE_S <= now or session.created + LIFE_S <= now
    if over or not memberships or session.roles != roles_of(memberships):
        with desk.store.write(alone=False) as connection:
            people.end_session(connection, hash_)
        return None
    if session.seen + SEEN_S <= now:
        with desk.store.write(alone=False) as connection:
            people.saw_session(connection, hash_, now)
    return Visitor(person, memberships, session, text)


def sign_out(desk: Desk, visitor: Visitor) -> None:
    """End this session."""
    with acting(desk, visitor.person) as change:
        people.end_session(change.connection, visitor.session.hash)
        change.did("session.end", visitor.person.id, None, {})


def sign_out_elsewhere(desk: Desk, visitor: Visitor) -> None:
    """End all their other sessions."""
    with acting(desk, visitor.person) as change:
        people.end_sessions(change.connection, visitor.person.id, but=visitor.session.hash)
        change.did("session.end_others", visitor.person.id, None, {})


def set_password(desk: Desk, visitor: Visitor, old: str, new: str, agent: str) -> Visitor:
    """Change their password; all their sessions end, and this one is a new one.

    Raises:
        Refused: 400, at `old` where that is not the present one.
    """
    kept = visitor.person.password
    if kept is not None and not verified(kept, old):
        raise Refused(Problem(400, "invalid_request_error", "wrong_password", "Wrong.", "old"))
    columns = {"password": hashed(new, "new")}
    with acting(desk, visitor.person) as change:
        people.change_person(change.connection, visitor.person.id, columns)
        people.end_sessions(change.connection, visitor.person.id)
        change.did("person.password", visitor.person.id, None, {})
        return begin(change, the_person(change.connection, visitor.person.id), agent)


def sessions_of(desk: Desk, visitor: Visitor) -> list[Session]:
    """Where they are signed in, this session included."""
    with desk.store.read() as connection:
        since = int(desk.clock()) - IDLE_S
        return people.list_sessions(connection, visitor.person.id, since)


def where(desk: Desk, visitor: Visitor, chosen: str) -> str | None:
    """Id of the account they look at, where they chose `chosen` before; None for all of them."""
    if not visitor.runs_the_gateway:
        mine = [one.account for one in visitor.memberships]
        return chosen if chosen in mine else mine[0]
    if not chosen:
        return None
    with desk.store.read() as connection:
        found = find_account(connection, chosen)
    return None if found is None else found.id


def accounts_of(desk: Desk, visitor: Visitor) -> list[Account]:
    """The accounts they may look at, by name: their own, or for whoever runs the gateway all."""
    with desk.store.read() as connection:
        known = list_accounts(connection)
    mine = {one.account for one in visitor.memberships}
    seen = [one for one in known if visitor.runs_the_gateway or one.id in mine]
    return sorted(seen, key=lambda one: one.name.lower())


def form_token(text: str) -> str:
    """What a form must send along: made from the cookie's text, which other sites cannot read."""
    return hashlib.sha256(b"form:" + text.encode()).hexdigest()


def good_form_token(text: str, token: str) -> bool:
    """Whether a form was made by us for whoever has that cookie."""
    return hmac.compare_digest(form_token(text).encode(), token.encode())


# For other use cases.


@contextmanager
def acting(desk: Desk, person: Person) -> Iterator[Change]:
    """A change that people make for themselves, whatever their roles."""
    with desk.store.write() as connection:
        change = Change(desk, Actor(f"person:{person.id}", "read-only"), connection, desk.clock())
        yield change
        change.close()


def the_person(connection: Connection, id_: str) -> Person:
    """The person with that id, who is known to be there."""
    found = people.find_person(connection, id_)
    if found is None:
        raise AssertionError(f"no person {id_}")
    return found


def secret_text(desk: Desk) -> str:
    """256 random bits as text for a cookie or link."""
    return base64.urlsafe_b64encode(desk.random(32)).decode().rstrip("=")


def digest(text: str) -> bytes:
    """As such a text is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def roles_of(memberships: tuple[Member, ...]) -> bytes:
    """A digest that changes with any of their roles."""
    told = ";".join(sorted(f"{one.account}={one.role}" for one in memberships))
    return hashlib.sha256(told.encode()).digest()
