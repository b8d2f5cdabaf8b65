"""Budgets and limits that keys and accounts have alike: words, numbers, fields. Knows no page."""

from decimal import Decimal
from typing import Any, Final

from zurelay.console.languages import N_
from zurelay.console.page import Form
from zurelay.office.accounts import AccountView
from zurelay.office.keys import KeyView

PERIODS: Final = {
    "day": N_("a day"),
    "week": N_("a week"),
    "month": N_("a month"),
    "total": N_("in all"),
}

_LIMITS: Final = ("rpm", "tpm", "concurrency")


def terms_in(form: Form) -> dict[str, Any]:
    """The budget and limits that a form names, as the office takes them; None if left empty."""
    budget = form.dollars("budget")
    return {
        "budget": {"usd": budget, "period": form.get("period") or "month"} if budget else None,
        **{name: form.whole(name) or None for name in _LIMITS},
    }


def filled_terms(one: AccountView | KeyView) -> dict[str, object]:
    """The way back: what the fields of a form hold for one that there is."""
    return {
        "budget": None if one.budget is None else one.budget.usd,
        "period": None if one.budget is None else one.budget.period,
        **{name: getattr(one, name) for name in _LIMITS},
    }


def spent(account: AccountView) -> float:
    """Dollars spent of its budget; 0 without one."""
    if account.budget is None or account.budget_left_usd is None:
        return 0.0
    return float(Decimal(account.budget.usd) - Decimal(account.budget_left_usd))
