"""Admin tokens: listed, made and revoked. A token's text stands only on the page that made it."""

from typing import Final

from zurelay.access.tokens import Role
from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, OWNERS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.console.settings import HOME as SETTINGS
from zurelay.office import tokens
from zurelay.office.sessions import accounts_of
from zurelay.office.tokens import NewToken

HOME: Final = f"{SETTINGS}/tokens"
ROLES: Final[dict[Role, str]] = {
    "read-only": N_("Reader: sees, and changes nothing"),
    "member": N_("Member of one account: makes keys there"),
    "admin": N_("Administrator: runs the whole gateway"),
    "owner": N_("Owner: also makes tokens and handles personal data"),
}
SHORT: Final[dict[str, str]] = {
    "member": N_("Member"),
    "read-only": N_("Reader"),
    "admin": N_("Administrator"),
    "owner": N_("Owner"),
}
FAULTS: Final = {
    "name": N_("Write 1 to 200 characters that people can read."),
    "role": N_("Readers may be for one account or for all; administrators and owners are for all."),
    "account": N_("Choose the account that it is a member of."),
}


def index(visit: Visit) -> Reply:
    """Every token."""
    return _shown(visit, Form())


def create(visit: Visit) -> Reply:
    """Makes one and shows its text, this once."""
    form = visit.form
    fields = {
        "name": form.get("name"),
        "role": form.get("role") or "read-only",
        "account": form.optional("account"),
    }
    try:
        made = tokens.create_token(visit.parts.desk, visit.actor, read(NewToken, fields))
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        return _shown(visit, form.failed(refused).explain(visit, FAULTS), 400)
    values = {"text": made.token, "one": made.details, "roles": SHORT}
    return Html("tokens_made.html", values, 201)


def revoke(visit: Visit) -> Reply:
    """Ends one for ever."""
    made = tokens.revoke_token(visit.parts.desk, visit.actor, visit.path["token"])
    return Redirect(HOME, visit.gettext("%(name)s is revoked.", name=made.name))


# Our own.


def _shown(visit: Visit, form: Form, status: int = 200) -> Reply:
    desk, visitor = visit.parts.desk, visit.visitor
    known = [] if visitor is None else accounts_of(desk, visitor)
    found = tokens.list_tokens(desk, visit.actor)
    everything = visit.query.get("show") == "all"
    return Html(
        "tokens.html",
        {
            "form": form,
            "found": [one for one in found if everything or one.state == "live"],
            "hidden": any(one.state != "live" for one in found),
            "everything": everything,
            "accounts_known": {one.id: one.name for one in known},
            "roles": ROLES,
            "short": SHORT,
        },
        status,
    )


PAGES = (
    Page("GET", HOME, OPERATORS, index),
    Page("POST", HOME, OWNERS, create),
    Page("POST", f"{HOME}/{{token}}/revoke", OWNERS, revoke),
)
