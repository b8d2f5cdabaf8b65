"""The overview, in a real browser."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.console.history import requests, write
from zurelay.store.engine import Store
from zurelay.store.keys import list_keys

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="session")
def history(console_store: Store) -> Store:
    """The served gateway, with a month behind it."""
    with console_store.read() as connection:
        key = list_keys(connection)[0]
    write(console_store, requests(time.time(), 4000, key.account, (key.id,)))
    return console_store


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_a_month_fits_every_window(
    visit: Visit, shot: Shot, history: Store, theme: str, phone: bool
) -> None:
    page = visit("/console?span=30d", theme=theme, phone=phone).page
    expect(page.get_by_text("claude-opus-5-5").first).to_be_visible()
    shot(page, f"overview-{theme}-{'phone' if phone else 'desktop'}")
    assert_fits(page)


def test_time_measure_and_group_are_a_click_away_without_scripts(
    visit: Visit, history: Store
) -> None:
    page = visit("/console", scripts=False, role="member").page
    page.get_by_role("link", name="30 days").click()
    page.get_by_role("link", name="Tokens", exact=True).click()
    page.get_by_role("link", name="User", exact=True).click()
    expect(page.get_by_text("build-bot").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"/console\?span=30d&by=user&show=tokens$"))


def test_it_speaks_dutch_and_french(visit: Visit, shot: Shot, history: Store) -> None:
    expect(visit("/console", language="nl").page.get_by_text("Uitgaven").first).to_be_visible()
    page = visit("/console?span=30d", language="fr").page
    expect(page.get_by_text("Dépenses").first).to_be_visible()
    shot(page, "overview-french")
