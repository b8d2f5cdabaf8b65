"""Links that let a person into the console once: the first owner's, invitations, new passwords.

Only a link's hash is kept; where a server of mail is configured, invitations and new passwords are
mailed, and wait for that in the outbox. Without it knows no address they are under.
"""

from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import Connection

from zurelay.chat.problems import Problem, Refused
from zurelay.letters.texts import INVITATION, PASSWORD
from zurelay.office import notices
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Change, Desk, conflict, no_such, wrong
from zurelay.office.notices import Notice, language_of, mail, post
from zurelay.office.passwords import hashed
from zurelay.office.rights import Actor
from zurelay.office.sessions import Visitor, acting, begin, digest, secret_text, the_person
from zurelay.store import people
from zurelay.store.accounts import find_account
from zurelay.store.members import Member, add_member, find_member
from zurelay.store.people import Link, Person

Kind = Literal["sign-in", "invitation", "password"]

LIFE_S: Final[dict[str, int]] = {
    "sign-in": 3600,
    "invitation": 7 * 86_400,
    "password": 86_400,
}

ASKED_S: Final = 600
"""How often at most somebody who forgot their password is sent a link."""

PATH: Final = "/console/link/"
"""Where a link's text goes."""

FIRST_OWNER: Final = notices.FIRST_OWNER
"""The address of the first owner, until they give their own."""

_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A link that is good. `known`: its person has signed in before."""

    kind: Kind
    email: str
    name: str
    known: bool


def first_link(desk: Desk) -> str | None:
    """The text of a new link for the first owner; None once there is one."""
    with desk.store.write() as connection:
        if people.there_is_an_owner(connection):
            return None
        return _made(desk, connection, "sign-in", FIRST_OWNER, "Owner")


def owner_link(desk: Desk, actor: Actor, email: str | None = None) -> str:
    """The text of a new link that signs an owner in: the one with that address, or the first.

    Raises:
        Refused: 403; 404 where no owner has that address.
    """
    with desk.change(actor, "tokens.change") as change:
        known = people.owners(change.connection)
        if email is not None:
            known = [one for one in known if one.email == email.strip().lower()]
            if not known:
                raise no_such("owner", email)
        person = known[0] if known else None
        address = FIRST_OWNER if person is None else person.email
        name = "Owner" if person is None else person.name
        change.did("link.create", address, None, {"kind": "sign-in"})
        return _made(desk, change.connection, "sign-in", address, name)


def member_link(desk: Desk, actor: Actor, account: str, member: str) -> tuple[Kind, str]:
    """A new link for a member (id or address) of an account: an invitation, or a new password.

    It is mailed to them too, where mails are sent.

    Only owners make one for somebody who runs the gateway, or is a member elsewhere too where the
    actor does not see that.

    Raises:
        Refused: 403, 404.
    """
    with desk.change(actor, "members.change") as change:
        owner = the_account(change.connection, actor, account)
        found = find_member(change.connection, owner.id, member.lower())
        if found is None or found.removed is not None:
            raise no_such("member", member)
        for one in people.memberships(change.connection, found.email):
            if one.role in ("owner", "admin") or not actor.sees(one.account):
                actor.needs("tokens.change")
        person = people.find_person(change.connection, found.email)
        kind: Kind = "invitation" if person is None else "password"
        change.did("link.create", found.id, owner.id, {"kind": kind})
        text = _made(desk, change.connection, kind, found.email, found.name)
        letter = _letter(change, kind, found, owner.name, text)
        post(change.connection, desk, letter)
        return kind, text


def forgot(desk: Desk, email: str, spoken: str | None = None) -> None:
    """Mail a link for a new password to whoever has that address and a password.

    It is in the language they chose, else in `spoken`, that of the page they asked on. Nothing
    tells whether anybody has that address. Within ten minutes of such a mail there is no other.
    """
    if desk.letters() is None:
        return
    email = email.strip().lower()[:254]
    with desk.store.read() as connection:
        person = people.find_person(connection, email)
    if person is None or person.password is None or "@" not in email:
        return
    with acting(desk, person) as change:
        connection, before = change.connection, int(change.now) - ASKED_S
        lately = people.link_since(connection, email, "password", before)
        if lately or not people.memberships(connection, email):
            change.did_nothing()
            return
        text = _made(desk, connection, "password", email, person.name)
        language = language_of(connection, email, spoken)
        path = f"{PATH}{text}"
        post(connection, desk, mail(desk, email, None, language, PASSWORD, path=path, email=email))
        change.did("link.ask", person.id, None, {"kind": "password"})


def look(desk: Desk, text: str) -> OpenLink:
    """What a link is for. Raises Refused: 404 where it is over, used, or none of ours."""
    with desk.store.read() as connection:
        link = _good(desk, connection, text)
        known = people.find_person(connection, link.email) is not None
        return OpenLink(link.kind, link.email, link.name, known)  # type: ignore[arg-type]


def follow(
    desk: Desk,
    text: str,
    agent: str,
    *,
    name: str | None = None,
    password: str | None = None,
    language: str | None = None,
) -> Visitor:
    """Use a link up and sign its person in.

    Args:
        desk: where.
        text: of the link.
        agent: what the browser calls itself.
        name: what they are to be called, for an invitation.
        password: their new one; must be given but for a sign-in link.
        language: what they read the page in; theirs if they are new here, so that mails speak it.

    Raises:
        Refused: 400, 404; 403 for a person who is a member of nothing.
    """
    kind = look(desk, text).kind
    if kind != "sign-in" and password is None:
        raise wrong("password", "password: write one.")
    kept = None if kind == "sign-in" or password is None else hashed(password)
    with desk.store.write() as connection:
        link = _good(desk, connection, text)
        if not people.use_link(connection, link.hash):
            raise _over()
        person = people.find_person(connection, link.email)
        if person is None:
            person = _new_person(desk, connection, link, name, language)
        if kept is not None:
            people.change_person(connection, person.id, {"password": kept})
            people.end_sessions(connection, person.id)
            person = the_person(connection, person.id)
        change = Change(desk, Actor(f"person:{person.id}", "read-only"), connection, desk.clock())
        change.did("link.use", person.id, None, {"kind": link.kind})
        visitor = begin(change, person, agent)
        change.close()
        return visitor


def change_profile(desk: Desk, visitor: Visitor, *, name: str, email: str) -> None:
    """Let a person be called so and have that address, wherever they are a member.

    Raises:
        Refused: 400; 409 where another person has the address.
    """
    name = v.name_of(name.strip())
    email = v.email_of(email.strip())
    old = visitor.person
    with acting(desk, old) as change:
        taken = people.find_person(change.connection, email)
        so_called = people.known_as_member(change.connection, email)
        if email != old.email and (taken is not None or so_called):
            raise conflict("Somebody else has that address.", "email")
        people.change_person(change.connection, old.id, {"name": name, "email": email})
        people.rename_members(change.connection, old.email, email, name)
        change.did("person.change", old.id, None, {})


def set_language(desk: Desk, visitor: Visitor, language: str | None) -> None:
    """Keep the language they chose."""
    with desk.store.write(alone=False) as connection:
        people.change_person(connection, visitor.person.id, {"language": language})


# Our own.


def _letter(change: Change, kind: Kind, member: Member, account: str, text: str) -> list[Notice]:
    """A member's link by mail; in the inviter's language where the member chose none."""
    who, _, id_ = change.actor.name.partition(":")
    inviter = people.find_person(change.connection, id_) if who == "person" else None
    spoken = None if inviter is None else inviter.language
    return mail(
        change.desk,
        member.email,
        member.account,
        language_of(change.connection, member.email, spoken),
        INVITATION if kind == "invitation" else PASSWORD,
        path=f"{PATH}{text}",
        email=member.email,
        inviter=account if inviter is None else inviter.name,
        account=account,
    )


def _made(desk: Desk, connection: Connection, kind: Kind, email: str, name: str) -> str:
    text = secret_text(desk)
    now = int(desk.clock())
    people.add_link(connection, Link(digest(text), kind, email, name, now, now + LIFE_S[kind]))
    return text


def _good(desk: Desk, connection: Connection, text: str) -> Link:
    link = people.find_link(connection, digest(text))
    if link is None or link.expires <= desk.clock():
        raise _over()
    return link


def _over() -> Refused:
    return Refused(Problem(404, "invalid_request_error", "link_over", "This link is over.", None))


def _new_person(
    desk: Desk, connection: Connection, link: Link, name: str | None, language: str | None
) -> Person:
    called = link.name if name is None else v.name_of(name.strip())
    now = int(desk.clock())
    person = Person(desk.random_id("per_"), link.email, called, None, language, now)
    people.add_person(connection, person)
    people.rename_members(connection, link.email, link.email, called)
    if link.kind == "sign-in" and not people.there_is_an_owner(connection):
        account = find_account(connection, _DEFAULT)
        if account is not None and find_member(connection, account.id, link.email) is None:
            id_ = desk.random_id("mem_")
            add_member(connection, Member(id_, account.id, link.email, called, "owner", now))
    return person
