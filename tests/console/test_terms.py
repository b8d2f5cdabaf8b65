"""Words and numbers of budgets."""

from typing import get_args

from zurelay.access.accounts import Period
from zurelay.console.terms import PERIODS, spent
from zurelay.office.accounts import AccountView
from zurelay.office.values import BudgetView


def account(budget: BudgetView | None, left: str | None) -> AccountView:
    bare = (None,) * 6
    return AccountView("acct_1", "team", "2026-11-29T12:00:00Z", None, budget, *bare, "0", left)


def test_every_period_has_its_words() -> None:
    assert set(PERIODS) == set(get_args(Period))


def test_what_is_spent_is_what_is_not_left() -> None:
    assert spent(account(BudgetView("20", "month"), "12.5")) == 7.5
    assert spent(account(None, None)) == 0
