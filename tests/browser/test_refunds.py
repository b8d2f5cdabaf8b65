"""Refunds, in a real browser."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.console.history import requests, write
from zurelay.meter.record import RequestRecord
from zurelay.store.engine import Store
from zurelay.store.keys import list_keys

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.fixture
def charged(console_store: Store) -> RequestRecord:
    """A request that cost two dollars."""
    with console_store.read() as connection:
        key = list_keys(connection)[0]
    (one,) = requests(time.time(), 1, key.account, (key.id,), days=0.001)
    one.cost, one.status = 2 * 10**9, "ok"
    write(console_store, iter([one]))
    return one


@pytest.mark.parametrize(
    ("theme", "phone", "scripts"), [("light", False, True), ("dark", True, False)]
)
def test_a_request_is_given_back_in_two_parts(
    visit: Visit, shot: Shot, charged: RequestRecord, theme: str, phone: bool, scripts: bool
) -> None:
    opened = visit("/console/billing", role="admin", theme=theme, phone=phone, scripts=scripts)
    page = opened.page
    page.get_by_role("link", name="Refund").click()
    page.get_by_label("Request", exact=True).fill(charged.id)
    shot(page, f"refunds-asked-{theme}")
    assert_fits(page)
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Amount").fill("0.50")
    page.get_by_label("Note").fill("The answer came late.")
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("$0.50 was given back.")).to_be_visible()
    shot(page, f"refunds-{theme}")
    assert_fits(page)
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("$1.50 was given back.")).to_be_visible()
    expect(page.get_by_text("Nothing is left of what this request cost.")).to_be_visible()
    shot(page, f"refunds-done-{theme}")
    assert_fits(page)
