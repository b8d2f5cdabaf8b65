"""The audit log: who changed what, and when."""

from typing import Any, Final
from urllib.parse import urlencode

from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import SIGNED_IN, Form, Html, Page, Reply, Visit
from zurelay.office import accounts, audit
from zurelay.office.names import names_of
from zurelay.office.pages import Page as ListPage

HOME: Final = "/console/audit"
ACTIONS: Final = {
    "account": N_("Accounts"),
    "alerts": N_("Alerts"),
    "balance": N_("Money"),
    "content": N_("Messages read"),
    "key": N_("Keys"),
    "link": N_("Sign-in links"),
    "member": N_("Members"),
    "model": N_("Models"),
    "person": N_("People"),
    "personal": N_("Personal data"),
    "price": N_("Prices"),
    "provider": N_("Providers"),
    "route": N_("Routes"),
    "session": N_("Sessions"),
    "store": N_("Database"),
    "support": N_("Support"),
    "token": N_("Admin tokens"),
}
_ROWS = 50
_MOST_ACCOUNTS = 500
_FILTERS = ("account", "action", "by", "target")


def index(visit: Visit) -> Reply:
    """The newest changes that pass the filter."""
    query, desk, actor = visit.query, visit.parts.desk, visit.actor
    filters = {name: query.get(name, "").strip() for name in _FILTERS}
    form = Form.of(**filters)
    page = ListPage(_ROWS, query.get("cursor") or None)
    given = {name: value for name, value in filters.items() if value}
    found, more = [], None
    try:
        listed = audit.list_audit(desk, actor, page, **(_wanted(visit) | given))
        found = listed.data
        if listed.next_cursor:
            more = f"{HOME}?{urlencode(given | {'cursor': listed.next_cursor})}"
    except Refused as refused:
        if refused.problem.status not in (400, 404):
            raise
        form.failed(refused)
    known = accounts.list_accounts(desk, actor, ListPage(_MOST_ACCOUNTS)).data
    names = {one.id: one.name for one in known}
    return Html(
        "audit.html",
        {
            "form": form,
            "found": found,
            "more": more,
            "filtered": bool(given),
            "actions": ACTIONS,
            "names": names,
            "who": names_of(desk, actor, (one.actor for one in found)),
            "choose_account": actor.account is None and visit.account is None,
            "details": details,
        },
        400 if form.faults else 200,
    )


def details(detail: dict[str, Any], action: str) -> list[tuple[str, str]]:
    """What is to be said of each field; where something was changed, a pair is before and after."""
    told = []
    for name, value in detail.items():
        if action.endswith((".change", ".rotate")) and isinstance(value, list) and len(value) == 2:
            told.append((name, f"{_word(value[0])} → {_word(value[1])}"))
        elif value not in (None, "", [], {}):
            told.append((name, _word(value)))
    return told


# Our own.


def _wanted(visit: Visit) -> dict[str, str]:
    return {} if visit.account is None else {"account": visit.account}


def _word(value: object) -> str:
    match value:
        case None:
            return "none"
        case dict():
            return ", ".join(f"{name} {_word(item)}" for name, item in value.items())
        case list():
            return ", ".join(map(_word, value))
        case bool():
            return str(value).lower()
        case _:
            return str(value)


PAGES = (Page("GET", HOME, SIGNED_IN, index),)
