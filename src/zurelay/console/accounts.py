"""Accounts: who pays. Operators make them, set their terms, move money, stop and resume them."""

from collections.abc import Mapping
from typing import Any, Final

from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, Form, Html, Page, Redirect, Reply, Visit, read
from zurelay.console.terms import PERIODS, filled_terms, spent, terms_in
from zurelay.office import accounts, money
from zurelay.office.accounts import AccountChange, AccountView, NewAccount
from zurelay.office.desk import Desk
from zurelay.office.money import Payment
from zurelay.office.names import names_of
from zurelay.office.pages import Page as ListPage

HOME: Final = "/console/accounts"
PREPAID: Final = {
    "": N_("as the settings say"),
    "true": N_("yes: requests need a balance"),
    "false": N_("no: it is billed later"),
}
FAULTS: Final = {
    "budget": N_("Write dollars, such as 20 or 0.50."),
    "rpm": N_("Write a whole number of 1 or more."),
    "tpm": N_("Write a whole number of 1 or more."),
    "concurrency": N_("Write a whole number of 1 or more."),
    "markup": N_("Write a factor, such as 1.2 for a fifth more."),
    "zone": N_("Write a time zone, such as Europe/Brussels."),
    "amount_usd": N_("Write dollars above 0, such as 100 or 12.50."),
    "ref": N_("Write 1 to 200 letters, digits or signs without blanks."),
    "note": N_("Write at most 500 characters that people can read."),
}
TAKEN: Final = {
    "name": N_("There is an account of that name already."),
    "ref": N_("Money was moved with this reference before. Look at the list below first."),
    "amount_usd": N_("The balance is too low, or running requests hold it."),
}
_NAME = N_("Write 1 to 200 characters that people can read.")
_ROWS = 100
_TRANSFERS = 20


def index(visit: Visit) -> Reply:
    """All accounts."""
    page = ListPage(_ROWS, visit.query.get("cursor") or None)
    found = accounts.list_accounts(visit.parts.desk, visit.actor, page)
    return Html(
        "accounts.html",
        {
            "found": found.data,
            "next": found.next_cursor,
            "periods": PERIODS,
            "spent": spent,
            "prepaid": lambda one: _prepaid(visit, one),
        },
    )


def new(_: Visit) -> Reply:
    """Asks what the account is to be."""
    return _form(Form(), None)


def create(visit: Visit) -> Reply:
    """Makes one."""
    try:
        wanted = read(NewAccount, _wanted(visit.form))
        made = accounts.create_account(visit.parts.desk, visit.actor, wanted)
    except Refused as refused:
        return _form(_failed(visit, refused), None, 400)
    return Redirect(f"{HOME}/{made.id}", visit.gettext("%(name)s is made.", name=made.name))


def show(visit: Visit) -> Reply:
    """One account: what it has, what it may, and what can be done with it."""
    return _shown(visit, Form())


def edit(visit: Visit) -> Reply:
    """Asks what is to change."""
    account = _the_account(visit)
    return _form(_filled(account), account)


def change(visit: Visit) -> Reply:
    """Changes what was changed in the form."""
    account = _the_account(visit)
    try:
        before, after = _wanted(_filled(account)), _wanted(visit.form)
        changed = {name: value for name, value in after.items() if before[name] != value}
        wanted = read(AccountChange, changed)
        accounts.change_account(visit.parts.desk, visit.actor, account.id, wanted)
    except Refused as refused:
        return _form(_failed(visit, refused), account, 400)
    return Redirect(f"{HOME}/{account.id}", visit.gettext("Saved."))


def move(visit: Visit) -> Reply:
    """Adds to the balance or takes from it, once per reference."""
    form, account = visit.form, _the_account(visit)
    fields = {
        "amount_usd": form.dollars("amount_usd"),
        "ref": form.get("ref") or form.get("own_ref"),
        "note": form.get("note"),
    }
    moves = money.debit if form.get("kind") == "debit" else money.credit
    try:
        moved = moves(visit.parts.desk, visit.actor, account.id, read(Payment, fields))
    except Refused as refused:
        return _shown(visit, _failed(visit, refused), 400)
    amount = visit.language.money(moved.amount_usd)
    said = visit.gettext("%(amount)s was added to the balance.", amount=amount)
    if moved.kind == "debit":
        amount = visit.language.money(moved.amount_usd.removeprefix("-"))
        said = visit.gettext("%(amount)s was taken from the balance.", amount=amount)
    return Redirect(f"{HOME}/{account.id}", said)


def stop(visit: Visit) -> Reply:
    """Refuses its keys from now on."""
    made = accounts.stop_account(visit.parts.desk, visit.actor, visit.path["account"])
    return Redirect(f"{HOME}/{made.id}", visit.gettext("%(name)s is stopped.", name=made.name))


def resume(visit: Visit) -> Reply:
    """Takes its keys again."""
    made = accounts.resume_account(visit.parts.desk, visit.actor, visit.path["account"])
    return Redirect(f"{HOME}/{made.id}", visit.gettext("%(name)s works again.", name=made.name))


def own_ref(desk: Desk, form: Form) -> str:
    """The reference that a form of money brings along, so that sent twice it moves nothing twice.

    A form that failed keeps its own, unless that was used for something else.
    """
    kept = "" if "ref" in form.faults else form.get("own_ref")
    return kept or desk.random_id("console-")


# Our own.


def _the_account(visit: Visit) -> AccountView:
    return accounts.get_account(visit.parts.desk, visit.actor, visit.path["account"])


def _prepaid(visit: Visit, account: AccountView) -> bool:
    return visit.parts.desk.prepaid() if account.prepaid is None else account.prepaid


def _shown(visit: Visit, form: Form, status: int = 200) -> Reply:
    account = _the_account(visit)
    desk = visit.parts.desk
    moved = money.list_transfers(desk, visit.actor, ListPage(_TRANSFERS), account.id)
    return Html(
        "accounts_one.html",
        {
            "one": account,
            "form": form,
            "own_ref": own_ref(desk, form),
            "moved": moved.data,
            "who": names_of(desk, visit.actor, (each.actor for each in moved.data)),
            "periods": PERIODS,
            "spent": spent(account),
            "prepaid": _prepaid(visit, account),
        },
        status,
    )


def _form(form: Form, account: AccountView | None, status: int = 200) -> Reply:
    values = {"form": form, "one": account, "periods": PERIODS, "prepaids": PREPAID}
    return Html("accounts_form.html", values, status)


def _wanted(form: Form) -> dict[str, Any]:
    """What a form says of an account, as the office takes it; None where it was left empty."""
    prepaid = form.get("prepaid")
    return {
        "name": form.get("name"),
        "prepaid": prepaid == "true" if prepaid in ("true", "false") else None,
        "zone": form.optional("zone"),
        "markup": form.decimal("markup") or None,
        **terms_in(form),
    }


def _filled(account: AccountView) -> Form:
    fields: Mapping[str, object] = {
        "name": account.name,
        "prepaid": None if account.prepaid is None else str(account.prepaid).lower(),
        "zone": account.zone,
        "markup": account.markup,
        **filled_terms(account),
    }
    return Form.of(**fields)


def _failed(visit: Visit, refused: Refused) -> Form:
    """The form with its fault; goes on with what is no fault of the form."""
    problem = refused.problem
    if problem.status not in (400, 409):
        raise refused
    form = visit.form.failed(refused, budget_usd="budget", budget_period="period")
    if problem.status == 400:
        return form.explain(visit, FAULTS | {"name": _NAME})
    return form.explain(visit, TAKEN)


PAGES = (
    Page("GET", HOME, OPERATORS, index),
    Page("POST", HOME, OPERATORS, create),
    Page("GET", f"{HOME}/new", OPERATORS, new),
    Page("GET", f"{HOME}/{{account}}", OPERATORS, show),
    Page("POST", f"{HOME}/{{account}}", OPERATORS, change),
    Page("GET", f"{HOME}/{{account}}/edit", OPERATORS, edit),
    Page("POST", f"{HOME}/{{account}}/money", OPERATORS, move),
    Page("POST", f"{HOME}/{{account}}/stop", OPERATORS, stop),
    Page("POST", f"{HOME}/{{account}}/resume", OPERATORS, resume),
)
