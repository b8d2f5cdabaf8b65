"""Alerts, in a real browser."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from zurelay.office.desk import Desk
from zurelay.office.telling import Recipients
from zurelay.office.watching import Sighting, raise_seen
from zurelay.store.alerts import Alert, add_alert, open_of_operators, saw
from zurelay.store.engine import Store
from zurelay.store.keys import list_keys

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]

HOME = "/console/billing/alerts"


@pytest.fixture(scope="module")
def raised(console_store: Store) -> str:
    """The id of an account with two alerts, beside one of the operators."""
    with console_store.write() as connection:
        key = list_keys(connection)[0]
        for level, left in ((50, "4.9"), (100, "-0.02")):
            detail = f'{{"level":{level},"credit":"10","left":"{left}"}}'
            add_alert(
                connection,
                Alert(f"b{level}", "balance", key.account, level, None, detail, "balance:x"),
            )
        detail = f'{{"level":80,"period":"2026-11","key":"{key.id}","budget":"20","spent":"16.4"}}'
        add_alert(connection, Alert("k80", "budget", key.account, 60, 70, detail, "budget:x"))
    seen = [
        Sighting("disk", "node-7", {"node": "node-7", "percent": 85}),
        Sighting("route_down", "openai:gpt-6-sol", {"route": "openai:gpt-6-sol"}),
    ]
    raise_seen(Desk(console_store), seen, Recipients())
    with console_store.write() as connection:  # they hold, though no node sees them again
        events = [one.event for one in open_of_operators(connection)]
        saw(connection, events, int((time.time() + 86_400) * 1000))
    return key.account


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "fr")])
def test_alerts_fit_every_window(
    visit: Visit, shot: Shot, raised: str, theme: str, language: str, phone: bool
) -> None:
    opened = visit(f"{HOME}?account={raised}", theme=theme, language=language, phone=phone)
    name = f"{theme}{'-phone' if phone else ''}"
    shot(opened.page, f"alerts-{name}")
    assert_fits(opened.page)
    page = opened.go("/console/routes/alerts")
    expect(page.get_by_text("node-7").first).to_be_visible()
    shot(page, f"alerts-operation-{name}")
    assert_fits(page)
    page = opened.go("/console")
    expect(page.get_by_text("need somebody")).to_be_visible() if language == "en" else None
    shot(page, f"alerts-overview-{name}")
    page = opened.go("/console/routes")
    shot(page, f"alerts-routes-{name}")


def test_addresses_are_asked_for_where_they_count_and_the_secret_is_shown(
    visit: Visit, shot: Shot, raised: str
) -> None:
    page = visit(f"{HOME}?account={raised}").page
    expect(page.get_by_label("Addresses", exact=True)).to_be_hidden()
    page.get_by_label("These addresses").check()
    page.get_by_label("Addresses", exact=True).fill("ann@example.com\nbob@example.com")
    page.get_by_label("Webhook").fill("https://hooks.example.com/in")
    shot(page, "alerts-listed")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#hook-secret")).to_contain_text("whsec_")
    shot(page, "alerts-secret")
    page.get_by_role("link", name="I have it").click()
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("A test is on its way")).to_be_visible()
    shot(page, "alerts-sent")


def test_a_member_sets_it_without_scripts(visit: Visit, raised: str) -> None:
    page = visit(HOME, role="member", scripts=False, language="nl").page
    page.get_by_label("Niemand").check()
    page.get_by_role("button", name="Opslaan").click()
    expect(page.get_by_label("Niemand")).to_be_checked()
