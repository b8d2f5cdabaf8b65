"""Personal data: an owner gets all that is kept of an account or an end user, or erases it.

What that is, and what stays, is the office's. An erasure is asked for twice, the second time with
the name written by hand.
"""

from typing import Final

from starlette.responses import StreamingResponse

from zurelay.chat.problems import Refused, invalid_value
from zurelay.console.languages import N_
from zurelay.console.page import OWNERS, Form, Html, Page, Reply, Visit, read
from zurelay.console.settings import HOME as SETTINGS
from zurelay.office import personal
from zurelay.office.accounts import AccountView, get_account
from zurelay.office.personal import SubjectForm
from zurelay.office.sessions import accounts_of

HOME: Final = f"{SETTINGS}/personal-data"
FAULTS: Final = {
    "account": N_("Choose an account, or write an end user."),
    "user": N_("Write at most 256 characters."),
}
OTHER: Final = N_("This is not the same name. Nothing was erased.")


def index(visit: Visit) -> Reply:
    """Asks whose data."""
    return _asked(visit, Form())


def export(visit: Visit) -> Reply:
    """All of it as a file."""
    try:
        pieces = personal.export(visit.parts.desk, visit.actor, _subject(visit.form))
    except Refused as refused:
        return _failed(visit, refused)
    headers = {"content-disposition": 'attachment; filename="personal-data.jsonl"'}
    return StreamingResponse(pieces, 200, headers, "application/x-ndjson")


def erase(visit: Visit) -> Reply:
    """Asks whether it is meant; then erases, for ever."""
    form, desk = visit.form, visit.parts.desk
    try:
        subject, account = _meant(visit)
    except Refused as refused:
        return _failed(visit, refused)
    wanted = subject.user or (account.name if account is not None else "")
    values = {"form": form, "account_meant": account, "user": subject.user, "wanted": wanted}
    if "sure" not in form:
        return Html("personal_sure.html", values)
    if form.get("sure") != wanted.strip():
        form.faults["sure"] = visit.gettext(OTHER)
        return Html("personal_sure.html", values, 400)
    done = personal.erase(desk, visit.actor, subject)
    return Html("personal_done.html", values | {"done": done})


# Our own.


def _subject(form: Form) -> SubjectForm:
    return read(SubjectForm, {name: form.optional(name) for name in ("account", "user")})


def _meant(visit: Visit) -> tuple[SubjectForm, AccountView | None]:
    """Whose data, and the account if it is one's. Raises Refused: 400, 404."""
    subject = _subject(visit.form)
    if subject.account is not None:
        account = get_account(visit.parts.desk, visit.actor, subject.account)
        return SubjectForm(account.id, subject.user), account
    if subject.user is None:
        raise Refused(invalid_value("account", FAULTS["account"]))
    return subject, None


def _failed(visit: Visit, refused: Refused) -> Reply:
    if refused.problem.status != 400:
        raise refused
    return _asked(visit, visit.form.failed(refused).explain(visit, FAULTS), 400)


def _asked(visit: Visit, form: Form, status: int = 200) -> Reply:
    known = [] if visit.visitor is None else accounts_of(visit.parts.desk, visit.visitor)
    choices = [(one.id, one.name) for one in known]
    return Html("personal.html", {"form": form, "choices": choices}, status)


PAGES = (
    Page("GET", HOME, OWNERS, index),
    Page("POST", f"{HOME}/export", OWNERS, export),
    Page("POST", f"{HOME}/erase", OWNERS, erase),
)
