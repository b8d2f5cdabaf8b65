"""Members: the people of an account, and what each may do there."""

from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection

from zurelay.access.tokens import Role
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk, conflict, no_such
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.store.members import Member, add_member, find_member
from zurelay.store.members import change_member as write_member
from zurelay.store.members import list_members as read_members


class NewMember(Struct, forbid_unknown_fields=True):
    """A person. Owners and admins run the whole gateway; the others see their account alone."""

    email: v.Email
    name: v.Name
    role: Role = "member"


class MemberChange(Struct, forbid_unknown_fields=True):
    """What is to change of a member."""

    name: v.Name | UnsetType = UNSET
    role: Role | UnsetType = UNSET


class MemberView(Struct):
    """A member of an account."""

    id: str
    account: str
    email: str
    name: str
    role: str
    created: str


def add(desk: Desk, actor: Actor, wanted: str, form: NewMember) -> MemberView:
    """Make a person a member of an account; one who was removed comes back.

    Raises:
        Refused: 400, 403, 404; 409 for an address that is a member already.
    """
    with desk.change(actor, "members.change") as change:
        _may_give(actor, form.role)
        account = the_account(change.connection, actor, wanted)
        email = v.email_of(form.email)
        earlier = find_member(change.connection, account.id, email)
        if earlier is not None and earlier.removed is None:
            raise conflict(f"{v.shown(email)} is a member already.", "email")
        name = v.name_of(form.name)
        if earlier is None:
            member = Member(
                desk.random_id("mem_"), account.id, email, name, form.role, int(change.now)
            )
            add_member(change.connection, member)
        else:
            columns = {"name": name, "role": form.role, "removed": None}
            write_member(change.connection, earlier.id, columns)
            member = _the_member(change.connection, account.id, earlier.id)
        change.did("member.add", member.id, account.id, {"role": member.role})
        return view(member)


def list_members(desk: Desk, actor: Actor, wanted: str, page: Page) -> Listed[MemberView]:
    """The members of an account, oldest first. Raises Refused: 403, 404."""
    with desk.read(actor, "members.read") as connection:
        account = the_account(connection, actor, wanted)
        found = read_members(connection, account.id, page.after, page.limit + 1)
        return listed(page, found, lambda one: (one.created, one.id), view)


def change_member(
    desk: Desk, actor: Actor, wanted: str, member: str, form: MemberChange
) -> MemberView:
    """Change name or role; `member` is an id or address. Raises Refused: 400, 403, 404."""
    with desk.change(actor, "members.change") as change:
        account = the_account(change.connection, actor, wanted)
        found = _the_member(change.connection, account.id, member)
        columns = {}
        if form.name is not UNSET and v.name_of(form.name) != found.name:
            columns["name"] = form.name
        if form.role is not UNSET and form.role != found.role:
            _may_give(actor, found.role)
            _may_give(actor, form.role)
            columns["role"] = form.role
        if not columns:
            change.did_nothing()
            return view(found)
        write_member(change.connection, found.id, columns)
        new = _the_member(change.connection, account.id, found.id)
        detail: dict[str, object] = {}
        if "role" in columns:
            detail["role"] = [found.role, new.role]
        if "name" in columns:
            detail["renamed"] = True  # names are personal data, which the log would keep
        change.did("member.change", found.id, account.id, detail)
        return view(new)


def remove_member(desk: Desk, actor: Actor, wanted: str, member: str) -> MemberView:
    """Let a person be no member any more. Raises Refused: 403, 404."""
    with desk.change(actor, "members.change") as change:
        account = the_account(change.connection, actor, wanted)
        found = _the_member(change.connection, account.id, member)
        _may_give(actor, found.role)
        write_member(change.connection, found.id, {"removed": int(change.now)})
        change.did("member.remove", found.id, account.id, {"role": found.role})
        return view(found)


def view(member: Member) -> MemberView:
    """A member as it is shown."""
    return MemberView(
        id=member.id,
        account=member.account,
        email=member.email,
        name=member.name,
        role=member.role,
        created=v.iso_of(member.created),
    )


def _the_member(connection: Connection, account: str, wanted: str) -> Member:
    found = find_member(connection, account, wanted.lower())
    if found is None or found.removed is not None:
        raise no_such("member", wanted)
    return found


def _may_give(actor: Actor, role: str) -> None:
    """Only owners make and unmake those who run the gateway."""
    if role in ("owner", "admin"):
        actor.needs("tokens.change")
