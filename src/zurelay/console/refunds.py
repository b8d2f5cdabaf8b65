"""Refunds: an operator gives back what a request cost, or a part of it.

Knows nothing of how money moves.
"""

from typing import Final
from urllib.parse import urlencode

from zurelay.chat.problems import Refused
from zurelay.console import accounts
from zurelay.console.billing import HOME as BILLING
from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.office import money
from zurelay.office.money import RefundableView, RefundForm
from zurelay.office.names import names_of

HOME: Final = f"{BILLING}/refund"
FAULTS: Final = {
    "request": N_("There is no request with this id."),
    "amount_usd": N_("Write dollars above 0, no more than is left."),
}
NOTHING: Final = N_("Nothing is left of what this request cost.")


def index(visit: Visit) -> Reply:
    """Asks which request, or how much of it."""
    wanted = visit.query.get("request", "")
    form = Form.of(request=wanted)
    if not wanted:
        return _asked(form)
    try:
        found = money.refundable(visit.parts.desk, visit.actor, wanted)
    except Refused as refused:
        if refused.problem.status != 404:
            raise
        form.faults["request"] = visit.gettext(FAULTS["request"])
        return _asked(form, 404)
    return _shown(visit, form, found)


def give(visit: Visit) -> Reply:
    """Gives back, once per reference."""
    form, desk = visit.form, visit.parts.desk
    found = money.refundable(desk, visit.actor, form.get("request"))
    wanted = {
        "amount_usd": form.dollars("amount_usd") or None,
        "ref": form.get("ref") or form.get("own_ref") or None,
        "note": form.get("note"),
    }
    try:
        moved = money.refund(desk, visit.actor, found.request, read(RefundForm, wanted))
    except Refused as refused:
        problem = refused.problem
        if problem.status == 409 and problem.param is None:
            return Redirect(_at(found), visit.gettext(NOTHING), "bad")
        if problem.status not in (400, 409):
            raise
        words = accounts.TAKEN if problem.status == 409 else accounts.FAULTS | FAULTS
        return _shown(visit, form.failed(refused).explain(visit, words), found, 400)
    amount = visit.language.money(moved.amount_usd)
    return Redirect(_at(found), visit.gettext("%(amount)s was given back.", amount=amount))


# Our own.


def _at(found: RefundableView) -> str:
    return f"{HOME}?{urlencode({'request': found.request})}"


def _asked(form: Form, status: int = 200) -> Reply:
    return Html("refunds.html", {"form": form, "found": None}, status)


def _shown(visit: Visit, form: Form, found: RefundableView, status: int = 200) -> Reply:
    desk = visit.parts.desk
    return Html(
        "refunds.html",
        {
            "form": form,
            "found": found,
            "own_ref": accounts.own_ref(desk, form),
            "who": names_of(desk, visit.actor, (one.actor for one in found.refunds)),
        },
        status,
    )


PAGES = (
    Page("GET", HOME, OPERATORS, index),
    Page("POST", HOME, OPERATORS, give),
)
