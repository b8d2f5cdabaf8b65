"""A key's terms as a form: what it says, what it is filled with, what is wrong with its fields.

Mark-up and the smart choice are for those who run the gateway: nobody else's form has them, and
what is sent in their place is not looked at. Knows no page.
"""

from collections.abc import Mapping
from typing import Any, Final

from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import Form, Visit
from zurelay.console.terms import filled_terms, terms_in
from zurelay.office.keys import KeyView
from zurelay.office.values import AutoForm, CeilingForm

_WHOLE = N_("Write a whole number of 1 or more.")
_PATTERNS = N_("Write one model on each line.")
_PRICE = N_("Write dollars for a million tokens, such as 5 or 0.25.")
FAULTS: Final = {
    "name": N_("Write 1 to 200 characters that people can read."),
    "account": N_("Choose an account."),
    "budget": N_("Write dollars, such as 20 or 0.50."),
    "period": N_("Choose a period."),
    "rpm": _WHOLE,
    "tpm": _WHOLE,
    "concurrency": _WHOLE,
    "expires": N_("Write a day that is not over."),
    "models": _PATTERNS,
    "store_days": N_("Write 1 to 365 days, or nothing."),
    "markup": N_("Write a factor, such as 1.2 for a fifth more."),
    "auto_allow": _PATTERNS,
    "auto_exclude": _PATTERNS,
    "auto_input": _PRICE,
    "auto_output": _PRICE,
}
NOT_ALLOWED: Final = N_("Only those who run the gateway may let a key do more than it could.")
_PLACES: Final = {
    "budget_usd": "budget",
    "budget_period": "period",
    "auto_allow": "auto_allow",
    "auto_exclude": "auto_exclude",
    "auto_ceiling_input": "auto_input",
    "auto_ceiling_output": "auto_output",
}
"""Fields of the office and those of the form that show what is wrong with them."""


def wanted(form: Form, *, operates: bool) -> dict[str, Any]:
    """What a form says of a key, as the office takes it; None where it was left empty.

    `operates`: whoever sends it runs the gateway.
    """
    models = models_in(form) if form.get("some") else None
    terms: dict[str, Any] = {
        "name": form.get("name"),
        "models": models,
        "expires": form.optional("expires"),
        "store_days": form.optional("store_days"),
        **terms_in(form),
    }
    if operates:
        terms |= {"markup": form.decimal("markup") or None, "auto": _auto(form)}
    return terms


def models_in(form: Form) -> list[str]:
    """The models that a form names, by their boxes or in words; each once."""
    return list(dict.fromkeys([*form.all("model"), *_lines(form, "models")]))


def filled(key: KeyView) -> Form:
    """The form for a key that there is."""
    fields: Mapping[str, object] = {
        "name": key.name,
        **filled_terms(key),
        "expires": key.expires,
        "store_days": key.store_days,
        "some": None if key.models is None else "on",
        "models": None if key.models is None else "\n".join(key.models),
        "markup": key.markup,
        **_choice(key.auto or AutoForm()),
    }
    return Form.of(**fields)


def failed(visit: Visit, refused: Refused) -> Form:
    """What was sent, with what was refused beside its field."""
    form = visit.form.failed(refused, **_PLACES)
    if refused.problem.status != 403:
        return form.explain(visit, FAULTS)
    for name in form.faults:
        form.faults[name] = visit.gettext(NOT_ALLOWED)
    return form


# Our own.


def _lines(form: Form, name: str) -> list[str]:
    """What stands on the lines of a field, or between commas."""
    return list(dict.fromkeys(form.get(name).replace(",", " ").split()))


def _auto(form: Form) -> dict[str, Any] | None:
    """Terms of the smart choice. A list or bound that is empty stands in place of the settings'."""
    terms: dict[str, Any] = {}
    if allow := _lines(form, "auto_allow"):
        terms["allow"] = allow
    if exclude := _lines(form, "auto_exclude"):
        terms["exclude"] = exclude
    elif form.get("auto_exclude_none"):
        terms["exclude"] = []
    bounds = {side: form.dollars(f"auto_{side}") or None for side in ("input", "output")}
    if any(bounds.values()):
        terms["ceiling"] = bounds
    elif form.get("auto_unbound"):
        terms["ceiling"] = {}
    return terms or None


def _choice(terms: AutoForm) -> dict[str, object]:
    """The way back; who may choose among none in particular may choose among all."""
    ceiling = terms.ceiling or CeilingForm()
    unbound = terms.ceiling is not None and ceiling.input is None and ceiling.output is None
    return {
        "auto_allow": None if terms.allow is None else "\n".join(terms.allow or ["*"]),
        "auto_exclude": None if terms.exclude is None else "\n".join(terms.exclude),
        "auto_exclude_none": "on" if terms.exclude == [] else None,
        "auto_input": ceiling.input,
        "auto_output": ceiling.output,
        "auto_unbound": "on" if unbound else None,
    }
