"""Words and numbers of budgets that several pages tell. Knows no page."""

from decimal import Decimal
from typing import Final

from zurelay.console.languages import N_
from zurelay.office.accounts import AccountView

PERIODS: Final = {
    "day": N_("a day"),
    "week": N_("a week"),
    "month": N_("a month"),
    "total": N_("in all"),
}


def spent(account: AccountView) -> float:
    """Dollars spent of its budget; 0 without one."""
    if account.budget is None or account.budget_left_usd is None:
        return 0.0
    return float(Decimal(account.budget.usd) - Decimal(account.budget_left_usd))
