"""Support: members ask whoever runs the gateway, operators answer, in threads."""

from typing import Final
from urllib.parse import quote

from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import (
    CHANGERS,
    SIGNED_IN,
    Form,
    Html,
    Page,
    Redirect,
    Reply,
    Visit,
    read,
)
from zurelay.office import accounts, support
from zurelay.office.pages import Page as ListPage
from zurelay.office.support import Question

HOME: Final = "/console/support"
FAULTS: Final = {
    "subject": N_("Write 1 to 200 characters that people can read."),
    "body": N_("Write 1 to 10,000 characters."),
    "request": N_("There is no such request in this account."),
    "account": N_("Choose an account."),
}
_FULL = N_("There are too many already: write in one that is open, or begin a new one.")
_ROWS = 50
_MOST_ACCOUNTS = 500


def index(visit: Visit) -> Reply:
    """The threads, those changed last first."""
    if visit.query.get("request"):
        return Redirect(f"{HOME}/new?request={quote(visit.query['request'][:40], safe='')}")
    page = ListPage(_ROWS, visit.query.get("cursor") or None)
    found = support.list_threads(visit.parts.desk, visit.actor, page, visit.account)
    values = {"found": found.data, "next": found.next_cursor, "operates": visit.operates}
    return Html("support.html", values)


def new(visit: Visit) -> Reply:
    """Asks what it is about."""
    query = visit.query
    return _form(
        visit, Form.of(request=query.get("request") or None, account=query.get("account") or None)
    )


def ask(visit: Visit) -> Reply:
    """Begins a thread."""
    form = visit.form
    fields = {
        "account": form.get("account") or visit.account or visit.actor.account or "",
        "subject": form.get("subject"),
        "body": form.get("body"),
        "request": form.optional("request"),
    }
    try:
        question = read(Question, fields)
        made = support.ask(visit.parts.desk, visit.actor, _name(visit), question)
    except Refused as refused:
        if refused.problem.status not in (400, 409):
            raise
        return _form(visit, _failed(visit, refused), 400)
    return Redirect(f"{HOME}/{made.id}", visit.gettext("Sent. The answer shows here."))


def show(visit: Visit) -> Reply:
    """One thread."""
    return _shown(visit, Form())


def answer(visit: Visit) -> Reply:
    """Writes in it."""
    wanted, body = visit.path["thread"], visit.form.get("body")
    try:
        support.answer(visit.parts.desk, visit.actor, _name(visit), wanted, body)
    except Refused as refused:
        if refused.problem.status not in (400, 409):
            raise
        return _shown(visit, _failed(visit, refused), 400)
    return Redirect(f"{HOME}/{wanted}#last", visit.gettext("Sent."))


def close(visit: Visit) -> Reply:
    """Lets it be settled."""
    support.close(visit.parts.desk, visit.actor, visit.path["thread"])
    return Redirect(HOME, visit.gettext("It is settled. Whoever writes in it opens it again."))


# Our own.


def _name(visit: Visit) -> str:
    return "" if visit.visitor is None else visit.visitor.person.name


def _failed(visit: Visit, refused: Refused) -> Form:
    form = visit.form.failed(refused).explain(visit, FAULTS)
    if refused.problem.status == 409:
        form.faults = {"body": visit.gettext(_FULL)}
    return form


def _form(visit: Visit, form: Form, status: int = 200) -> Reply:
    known = []
    if visit.account is None:
        page = ListPage(_MOST_ACCOUNTS)
        known = accounts.list_accounts(visit.parts.desk, visit.actor, page).data
    choices = [(one.id, one.name) for one in known]
    return Html("support_new.html", {"form": form, "choices": choices}, status)


def _shown(visit: Visit, form: Form, status: int = 200) -> Reply:
    thread, messages = support.read(visit.parts.desk, visit.actor, visit.path["thread"])
    values = {"form": form, "one": thread, "messages": messages, "operates": visit.operates}
    return Html("support_one.html", values, status)


PAGES = (
    Page("GET", HOME, SIGNED_IN, index),
    Page("POST", HOME, CHANGERS, ask),
    Page("GET", f"{HOME}/new", CHANGERS, new),
    Page("GET", f"{HOME}/{{thread}}", SIGNED_IN, show),
    Page("POST", f"{HOME}/{{thread}}", CHANGERS, answer),
    Page("POST", f"{HOME}/{{thread}}/close", CHANGERS, close),
)
