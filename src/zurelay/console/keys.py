"""API keys: listed with what they spent, made, changed, renewed and revoked.

A key's text stands only on the page that made it.
"""

from typing import Final

from zurelay.chat.problems import Refused
from zurelay.console.charts import Chart, Series
from zurelay.console.keys_form import failed, filled, models_in, wanted
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
from zurelay.console.parts import ConsoleParts
from zurelay.console.snippets import samples
from zurelay.console.terms import PERIODS
from zurelay.office import contents, keys
from zurelay.office.accounts import get_account
from zurelay.office.keys import KeyChange, KeyView, MadeKey, NewKey
from zurelay.office.pages import MOST
from zurelay.office.pages import Page as ListPage
from zurelay.office.sessions import accounts_of
from zurelay.office.trends import trend

HOME: Final = "/console/keys"
OVERLAPS: Final = {
    "86400": N_("one day"),
    "3600": N_("one hour"),
    "604800": N_("one week"),
    "0": N_("not at all: it ends now"),
}
_ANSWERED_HERE: Final = (400, 403, 404)


def index(visit: Visit) -> Reply:
    """The keys of the account, or of all."""
    everything = visit.query.get("show") == "all"
    page = ListPage(MOST, visit.query.get("cursor") or None)
    desk, actor = visit.parts.desk, visit.actor
    one = None
    if wanted_account := visit.query.get("account"):
        one = get_account(desk, actor, wanted_account)
    account = visit.account if one is None else one.id
    found = keys.list_keys(desk, actor, page, account)
    shown = [one for one in found.data if everything or one.state in ("live", "stopped")]
    return Html(
        "keys.html",
        {
            "keys": shown,
            "hidden": len(found.data) - len(shown),
            "everything": everything,
            "one": one,
            "many_accounts": actor.account is None and account is None,
            "next": found.next_cursor,
            "periods": PERIODS,
            "samples": samples(visit.parts.base_url(), visit.parts.example_model()),
        },
    )


def new(visit: Visit) -> Reply:
    """Asks what the key is to be."""
    return _form(visit, Form(), None)


def create(visit: Visit) -> Reply:
    """Makes a key and shows its text, this once."""
    form = visit.form
    try:
        terms = wanted(form, operates=visit.operates)
        terms["account"] = form.get("account") or visit.actor.account or ""
        made = keys.create_key(visit.parts.desk, visit.actor, read(NewKey, terms))
    except Refused as refused:
        if refused.problem.status not in _ANSWERED_HERE or not refused.problem.param:
            raise
        return _form(visit, failed(visit, refused), None, 400)
    return _made(visit, made, renewed=False)


def show(visit: Visit) -> Reply:
    """One key: what it may, what it spent, and what can be done with it."""
    key = keys.get_key(visit.parts.desk, visit.actor, visit.path["key"])
    return _shown(visit, key)


def edit(visit: Visit) -> Reply:
    """Asks what is to change."""
    key = keys.get_key(visit.parts.desk, visit.actor, visit.path["key"])
    return _form(visit, filled(key), key)


def change(visit: Visit) -> Reply:
    """Changes what was changed in the form."""
    desk, actor, operates = visit.parts.desk, visit.actor, visit.operates
    key = keys.get_key(desk, actor, visit.path["key"])
    try:
        before = wanted(filled(key), operates=operates)
        after = wanted(visit.form, operates=operates)
        changed = {name: value for name, value in after.items() if before[name] != value}
        keys.change_key(desk, actor, key.id, read(KeyChange, changed))
    except Refused as refused:
        if refused.problem.status not in (400, 403) or not refused.problem.param:
            raise
        return _form(visit, failed(visit, refused), key, 400)
    return Redirect(f"{HOME}/{key.id}", visit.gettext("Saved."))


def rotate(visit: Visit) -> Reply:
    """Gives it a new text and shows that, this once."""
    overlap = int(visit.form.get("overlap")) if visit.form.get("overlap") in OVERLAPS else 86_400
    desk, actor = visit.parts.desk, visit.actor
    key = keys.get_key(desk, actor, visit.path["key"])
    try:
        made = keys.rotate_key(desk, actor, key.id, overlap)
    except Refused as refused:
        if refused.problem.status != 409:
            raise
        said = visit.gettext(
            "It was renewed lately, and two texts work until then. Wait, or end the old ones now."
        )
        return Redirect(f"{HOME}/{key.id}", said, "bad")
    return _made(visit, made, renewed=True)


def revoke(visit: Visit) -> Reply:
    """Ends it for ever."""
    key = keys.revoke_key(visit.parts.desk, visit.actor, visit.path["key"])
    return Redirect(HOME, visit.gettext("%(name)s is revoked.", name=key.name))


def forget(visit: Visit) -> Reply:
    """Deletes the messages that are stored of its requests."""
    key = keys.get_key(visit.parts.desk, visit.actor, visit.path["key"])
    done = contents.forget(visit.parts.desk, visit.actor, key.id)
    said = visit.ngettext(
        "The messages of %(num)s request are deleted.",
        "The messages of %(num)s requests are deleted.",
        done.deleted,
    )
    return Redirect(f"{HOME}/{key.id}", said)


def served_models(parts: ConsoleParts) -> list[str]:
    """Ids of the models that are served."""
    return sorted(parts.table().models)


# Our own.


def _form(visit: Visit, form: Form, key: KeyView | None, status: int = 200) -> Reply:
    served: list[str] = visit.gathered or []
    listed = models_in(form)
    chosen = {one for one in listed if one in served}
    others = [one for one in listed if one not in served]
    visitor = visit.visitor
    choose = key is None and visit.actor.account is None and visitor is not None
    accounts = accounts_of(visit.parts.desk, visitor) if choose and visitor is not None else []
    return Html(
        "keys_form.html",
        {
            "form": form,
            "key": key,
            "served": served,
            "chosen": chosen,
            "others": "\n".join(others),
            "choices": [(one.id, one.name) for one in accounts],
            "account_chosen": form.get("account")
            or visit.query.get("account")
            or visit.account
            or "",
            "can_store": visit.parts.desk.sealer() is not None,
            "periods": PERIODS,
            "operates": visit.operates,
        },
        status,
    )


def _made(visit: Visit, made: MadeKey, *, renewed: bool) -> Reply:
    model = _a_model(visit, made.details)
    values = {
        "text": made.key,
        "key": made.details,
        "renewed": renewed,
        "samples": samples(visit.parts.base_url(), model, made.key),
    }
    return Html("keys_made.html", values, 201)


def _shown(visit: Visit, key: KeyView) -> Reply:
    found = trend(visit.parts.desk, visit.actor, "30d", "model", key=key.id, timed=False)
    series = [
        Series(
            visit.gettext("Others") if group.rest else group.name or visit.gettext("No such model"),
            [step.cost / 10**9 for step in group.steps],
        )
        for group in found.groups
    ]
    chart = Chart(found.times, series, "usd")
    return Html(
        "keys_one.html",
        {
            "key": key,
            "stored": contents.count(visit.parts.desk, visit.actor, key.id),
            "found": found,
            "chart_drawn": None if chart.empty else chart.draw(visit.language),
            "periods": PERIODS,
            "overlaps": OVERLAPS,
            "samples": samples(visit.parts.base_url(), _a_model(visit, key)),
        },
    )


def _a_model(visit: Visit, key: KeyView) -> str:
    """A model for the example that the key may use."""
    allowed = [one for one in key.models or () if "*" not in one]
    return allowed[0] if allowed else visit.parts.example_model()


PAGES = (
    Page("GET", "/console/keys", SIGNED_IN, index),
    Page("POST", "/console/keys", CHANGERS, create, served_models),
    Page("GET", "/console/keys/new", CHANGERS, new, served_models),
    Page("GET", "/console/keys/{key}", SIGNED_IN, show),
    Page("POST", "/console/keys/{key}", CHANGERS, change, served_models),
    Page("GET", "/console/keys/{key}/edit", CHANGERS, edit, served_models),
    Page("POST", "/console/keys/{key}/rotate", CHANGERS, rotate),
    Page("POST", "/console/keys/{key}/revoke", CHANGERS, revoke),
    Page("POST", "/console/keys/{key}/forget", CHANGERS, forget),
)
