"""Members: the people of an account. Operators invite them by a link that is shown once."""

from typing import Final
from urllib.parse import urlencode

from zurelay.access.tokens import Role
from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import (
    OPERATORS,
    SIGNED_IN,
    Form,
    Html,
    Page,
    Redirect,
    Reply,
    Visit,
    read,
)
from zurelay.office import accounts, links, members
from zurelay.office.accounts import AccountView
from zurelay.office.desk import no_such
from zurelay.office.members import MemberChange, MemberView, NewMember
from zurelay.office.pages import Page as ListPage

HOME: Final = "/console/members"
ROLES: Final[dict[Role, str]] = {
    "member": N_("Member"),
    "read-only": N_("Reader"),
    "admin": N_("Administrator"),
    "owner": N_("Owner"),
}
MEANS: Final[dict[Role, str]] = {
    "member": N_("makes keys, sees the account's requests and money"),
    "read-only": N_("sees the same, and changes nothing"),
    "admin": N_("runs the whole gateway"),
    "owner": N_("also names administrators and handles personal data"),
}
FAULTS: Final = {
    "email": N_("Write an e-mail address."),
    "name": N_("Write 1 to 200 characters that people can read."),
    "role": N_("Choose a role."),
}
_MEMBER_ALREADY = N_("This person is a member already.")
_MOST_ACCOUNTS = 500
_ROWS = 100


def index(visit: Visit) -> Reply:
    """The people of one account."""
    return _shown(visit, Form())


def invite(visit: Visit) -> Reply:
    """Makes a member, and shows their invitation, this once."""
    form, account = visit.form, _account(visit, visit.form.get("account"))
    desk, actor = visit.parts.desk, visit.actor
    fields = {name: form.get(name) for name in ("email", "name", "role")}
    try:
        made = members.add(desk, actor, account.id, read(NewMember, fields))
    except Refused as refused:
        if refused.problem.status not in (400, 409):
            raise
        taken = refused.problem.status == 409
        words = {"email": _MEMBER_ALREADY} if taken else FAULTS
        return _shown(visit, form.failed(refused).explain(visit, words), 400)
    try:
        return _link(visit, account.id, made.id)
    except Refused as refused:
        if refused.problem.status != 403:
            raise
        # They run the gateway: an owner alone would make them a link, and they need none.
        said = visit.gettext("%(name)s is a member now, and signs in as before.", name=made.name)
        return Redirect(f"{HOME}?account={account.id}", said)


def change(visit: Visit) -> Reply:
    """Gives somebody another name or role."""
    account, member = visit.path["account"], visit.path["member"]
    desk, actor, form = visit.parts.desk, visit.actor, visit.form
    known = {each.id: each for each in _everybody(visit, account)}
    wanted = {name: form.get(name) for name in ("name", "role") if name in form}
    try:
        made = members.change_member(desk, actor, account, member, read(MemberChange, wanted))
    except Refused as refused:
        problem = refused.problem
        if problem.status != 400:
            raise
        said = visit.gettext(FAULTS.get(problem.param or "", FAULTS["name"]))
        return Redirect(f"{HOME}?{urlencode({'account': account})}", said, "bad")
    said = visit.gettext("Saved.")
    if made.id in known and known[made.id].role != made.role:
        said = visit.gettext("%(name)s has another role and signs in anew.", name=made.name)
    return Redirect(f"{HOME}?account={made.account}", said)


def link(visit: Visit) -> Reply:
    """Shows a new link for somebody, this once."""
    return _link(visit, visit.path["account"], visit.path["member"])


def remove(visit: Visit) -> Reply:
    """Lets somebody be no member any more."""
    account, member = visit.path["account"], visit.path["member"]
    made = members.remove_member(visit.parts.desk, visit.actor, account, member)
    said = visit.gettext("%(name)s is no member any more.", name=made.name)
    return Redirect(f"{HOME}?account={made.account}", said)


# Our own.


def _account(visit: Visit, wanted: str) -> AccountView:
    """The account meant; without one that which is looked at, or the first."""
    desk, actor = visit.parts.desk, visit.actor
    wanted = wanted or visit.account or ""
    if wanted:
        return accounts.get_account(desk, actor, wanted)
    known = accounts.list_accounts(desk, actor, ListPage(1)).data
    if not known:
        raise no_such("account", "default")
    return known[0]


def _shown(visit: Visit, form: Form, status: int = 200) -> Reply:
    desk, actor = visit.parts.desk, visit.actor
    account = _account(visit, form.get("account") or visit.query.get("account", ""))
    page = ListPage(_ROWS, visit.query.get("cursor") or None)
    found = members.list_members(desk, actor, account.id, page)
    known = []
    if visit.account is None:
        known = accounts.list_accounts(desk, actor, ListPage(_MOST_ACCOUNTS)).data
    return Html(
        "members.html",
        {
            "form": form,
            "one": account,
            "known": known if len(known) > 1 else [],
            "found": found.data,
            "next": found.next_cursor,
            "roles": ROLES,
            "means": MEANS,
            "given": _given(visit),
            "own": None if visit.visitor is None else visit.visitor.person.email,
        },
        status,
    )


def _given(visit: Visit) -> dict[Role, str]:
    """The roles that whoever looks may hand out; none for who changes no member."""
    if not visit.actor.may("members.change"):
        return {}
    plain = ("member", "read-only")
    everything = visit.actor.may("tokens.change")
    return {role: name for role, name in ROLES.items() if everything or role in plain}


def _everybody(visit: Visit, account: str) -> list[MemberView]:
    return members.list_members(visit.parts.desk, visit.actor, account, ListPage(500)).data


def _link(visit: Visit, account: str, wanted: str) -> Reply:
    desk, actor = visit.parts.desk, visit.actor
    kind, text = links.member_link(desk, actor, account, wanted)
    found = _everybody(visit, account)
    one = next((each for each in found if wanted in (each.id, each.email)), None)
    url = f"{visit.parts.base_url()}/console/link/{text}"
    days = links.LIFE_S[kind] // 86_400
    values = {
        "kind": kind,
        "url": url,
        "one": one,
        "account": account,
        "days": days,
        "mailed": desk.letters() is not None,
    }
    return Html("members_link.html", values, 201)


PAGES = (
    Page("GET", HOME, SIGNED_IN, index),
    Page("POST", HOME, OPERATORS, invite),
    Page("POST", f"{HOME}/{{account}}/{{member}}/role", OPERATORS, change),
    Page("POST", f"{HOME}/{{account}}/{{member}}/link", OPERATORS, link),
    Page("POST", f"{HOME}/{{account}}/{{member}}/remove", OPERATORS, remove),
)
