"""Billing, in a real browser."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.console.history import requests, write
from tests.console.people import OWNER
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.money import Payment, credit
from zurelay.office.values import BudgetForm
from zurelay.store.engine import Store
from zurelay.store.keys import list_keys

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def payments(console_store: Store) -> Store:
    """The served gateway, with payments, a budget and a month behind it."""
    desk = Desk(console_store)
    with console_store.read() as connection:
        key = list_keys(connection)[0]
    write(console_store, requests(time.time(), 500, key.account, (key.id,)))
    credit(desk, OWNER, key.account, Payment("250", "invoice-2026-11", "November"))
    create_key(desk, OWNER, NewKey("website", key.account, budget=BudgetForm("20", "month")))
    return console_store


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_money_fits_every_window(
    visit: Visit, shot: Shot, payments: Store, theme: str, phone: bool
) -> None:
    opened = visit("/console/billing", theme=theme, phone=phone)
    page = opened.page
    expect(page.get_by_text("invoice-2026-11")).to_be_visible()
    shot(page, f"billing-{theme}")
    assert_fits(page)
    page.locator("table a.main").first.click()
    expect(page.get_by_text("Balance now")).to_be_visible()
    shot(page, f"billing-month-{theme}")
    assert_fits(page)


def test_usage_is_downloaded_and_providers_bills_are_shown(
    visit: Visit, shot: Shot, payments: Store
) -> None:
    page = visit("/console/billing").page
    page.get_by_text("Usage as a file").click()
    page.get_by_label("From").fill(time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400)))
    shot(page, "billing-usage")
    assert_fits(page)
    with page.expect_download() as downloading:
        page.locator("form", has=page.get_by_label("From")).get_by_role("button").click()
    assert downloading.value.suggested_filename == "usage.csv"
    page.get_by_role("link", name="Providers' bills").click()
    expect(page.get_by_role("heading", name="Providers' bills")).to_be_visible()
    shot(page, "costs")
    assert_fits(page)
