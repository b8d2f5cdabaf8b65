"""Alerts: where an account wants its own, what was told, and what operators should know.

Operators choose the account; members see their own. Raises nothing.
"""

from typing import Any, Final
from urllib.parse import quote

from zurelay.chat.problems import Refused
from zurelay.console import billing, routes
from zurelay.console.languages import N_
from zurelay.console.page import (
    CHANGERS,
    OPERATORS,
    SIGNED_IN,
    Form,
    Html,
    Page,
    Redirect,
    Reply,
    Visit,
)
from zurelay.office import accounts, alerts
from zurelay.office.accounts import AccountView
from zurelay.office.alerts import TargetForm, TargetSet, TargetView
from zurelay.office.pages import Page as ListPage

HOME: Final = f"{billing.HOME}/alerts"
OPERATION: Final = f"{routes.HOME}/alerts"

WHO: Final = {
    "keepers": N_("The owners and admins of this account; its members where it has none"),
    "listed": N_("These addresses"),
    "nobody": N_("Nobody"),
}
STATES: Final = {
    "sent": N_("sent"),
    "waiting": N_("on its way"),
    "failing": N_("tried again soon"),
    "given_up": N_("given up"),
}
FAULTS: Final = {
    "emails": N_("Write 1 to 10 addresses such as ann@example.com, each on a line of its own."),
    "webhook": N_(
        "Write an http or https URL on the public internet, with port 80 or 443 and no password."
    ),
}
PROBLEMS: Final = (N_("it cannot be reached from here"),)
"""Of deliveries to what members name, in the words of whoever delivers; others stay in English."""

_NO_WEBHOOK = N_("There is no webhook.")
_TRIAL = N_("Nobody would get it now, or too many tests were sent lately.")
_ROWS = 25
_MOST_ACCOUNTS = 500


def index(visit: Visit) -> Reply:
    """Who is told of one account's spending, and what they were told."""
    known = _known(visit)
    return _shown(visit, billing.chosen(visit, known), None, known)


def save(visit: Visit) -> Reply:
    """Says who is told."""
    form, desk = visit.form, visit.parts.desk
    account = accounts.get_account(desk, visit.actor, form.get("account"))
    try:
        made = alerts.set_target(desk, visit.actor, account.id, _target(form))
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        return _shown(visit, account, form.failed(refused).explain(visit, FAULTS), _known(visit))
    if made.secret is not None:
        return _secret(account, made)
    return Redirect(_at(account), visit.gettext("Saved."))


def renew(visit: Visit) -> Reply:
    """Gives the webhook another secret."""
    desk = visit.parts.desk
    account = accounts.get_account(desk, visit.actor, visit.form.get("account"))
    try:
        made = alerts.renew_secret(desk, visit.actor, account.id)
    except Refused as refused:
        if refused.problem.status != 409:
            raise
        return Redirect(_at(account), visit.gettext(_NO_WEBHOOK), "bad")
    return _secret(account, made)


def trial(visit: Visit) -> Reply:
    """Sends a test."""
    desk = visit.parts.desk
    account = accounts.get_account(desk, visit.actor, visit.form.get("account"))
    try:
        alerts.send_trial(desk, visit.actor, account.id)
    except Refused as refused:
        if refused.problem.status != 409:
            raise
        return Redirect(_at(account), visit.gettext(_TRIAL), "bad")
    return Redirect(
        _at(account), visit.gettext("A test is on its way; below stands what becomes of it.")
    )


def operation(visit: Visit) -> Reply:
    """What holds now of the gateway itself, what did before, and who is told."""
    desk, actor, code = visit.parts.desk, visit.actor, visit.language.code
    holding = alerts.list_of_operators(desk, actor, ListPage(200), holds=True, language=code)
    page = ListPage(_ROWS, visit.query.get("cursor") or None)
    over = alerts.list_of_operators(desk, actor, page, holds=False, language=code)
    more = None
    if over.next_cursor:
        more = f"{OPERATION}?cursor={quote(over.next_cursor, safe='')}"
    settings = [one for one in visit.parts.settings() if one.table == "alerts"]
    return Html(
        "alerts_operation.html",
        {"holding": holding.data, "over": over.data, "more": more, "settings": settings},
    )


# Our own.


def _known(visit: Visit) -> list[AccountView]:
    return accounts.list_accounts(visit.parts.desk, visit.actor, ListPage(_MOST_ACCOUNTS)).data


def _at(account: AccountView) -> str:
    return f"{HOME}?account={account.id}"


def _secret(account: AccountView, made: TargetSet) -> Reply:
    """Shown by the change itself: there is no other way to see it."""
    values = {"one": account, "secret": made.secret, "back": _at(account)}
    return Html("alerts_secret.html", values)


def _target(form: Form) -> TargetForm:
    """What a form says; without a choice that is one of ours, owners and admins."""
    emails: list[str] | None = None
    if form.get("who") == "nobody":
        emails = []
    elif form.get("who") == "listed":
        emails = form.get("emails").replace(",", " ").split() or [""]
    return TargetForm(emails, form.optional("webhook"))


def _filled(target: TargetView) -> Form:
    who = "keepers" if target.emails is None else "listed" if target.emails else "nobody"
    return Form.of(who=who, emails="\n".join(target.emails or ()), webhook=target.webhook)


def _shown(
    visit: Visit, account: AccountView, form: Form | None, known: list[AccountView]
) -> Reply:
    desk, actor = visit.parts.desk, visit.actor
    target = alerts.get_target(desk, actor, account.id)
    page = ListPage(_ROWS, visit.query.get("cursor") or None)
    told = alerts.list_alerts(desk, actor, page, account.id, language=visit.language.code)
    more = None
    if told.next_cursor:
        more = f"{_at(account)}&cursor={quote(told.next_cursor, safe='')}"
    values: dict[str, Any] = {
        "one": account,
        "known": known if len(known) > 1 and visit.account is None else [],
        "target": target,
        "form": form or _filled(target),
        "who": WHO,
        "told": told.data,
        "more": more,
        "sent": alerts.list_deliveries(desk, actor, account.id),
        "states": STATES,
        "in_words": visit.gettext,
    }
    return Html("alerts.html", values, 200 if form is None else 400)


PAGES = (
    Page("GET", HOME, SIGNED_IN, index),
    Page("POST", HOME, CHANGERS, save),
    Page("POST", f"{HOME}/secret", CHANGERS, renew),
    Page("POST", f"{HOME}/test", CHANGERS, trial),
    Page("GET", OPERATION, OPERATORS, operation),
)
