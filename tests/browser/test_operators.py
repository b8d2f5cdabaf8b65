"""Pages of operators, in a real browser: wide and light, narrow and dark."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.console.people import OWNER
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.prices import PriceForm, set_price
from zurelay.office.stops import StopForm, stop
from zurelay.office.values import BudgetForm
from zurelay.store.engine import Store

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]

PAGES = {
    "routes": ("/console/routes", "sandbox/echo"),
    "accounts": ("/console/accounts", "Blue company"),
    "account": ("/console/accounts/Blue%20company", "Add to the balance"),
    "account-form": ("/console/accounts/new", "Make the account"),
    "members": ("/console/members", "Invite somebody"),
    "prices": ("/console/prices", "Set by operators"),
    "price-form": ("/console/prices/new?model=sandbox/echo", "Dollars per million tokens"),
    "settings": ("/console/settings?show=all", "[server]"),
    "audit": ("/console/audit?action=account", "account.create"),
}


@pytest.fixture(scope="module")
def running(console_store: Store) -> Store:
    """The served gateway, with something of everything."""
    desk = Desk(console_store)
    budget = BudgetForm("200", "month")
    create_account(desk, OWNER, NewAccount("Blue company", budget=budget, rpm=600, markup="1.2"))
    price = {"input": "1.50", "output": "6.00"}
    set_price(desk, OWNER, PriceForm("sandbox/echo", price, "2099-01-01"))
    stop(desk, OWNER, StopForm("model", "a-model-of-the-past", "It answered wrongly."))
    return console_store


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_every_window(visit: Visit, shot: Shot, running: Store, name: str) -> None:
    path, said = PAGES[name]
    for theme, phone in (("light", False), ("dark", True)):
        page = visit(path, theme=theme, phone=phone).page
        expect(page.get_by_text(said).first).to_be_attached()
        shot(page, f"{name}-{theme}")
        assert_fits(page)


def test_a_member_is_invited_without_scripts(visit: Visit, shot: Shot, running: Store) -> None:
    page = visit("/console/members", scripts=False).page
    invitation = page.locator("#invite")  # those who are members can be renamed above it
    invitation.get_by_label("Name", exact=True).fill("Ann Peeters")
    invitation.get_by_label("E-mail").fill("ann.peeters@example.com")
    invitation.get_by_role("button", name="Make the invitation").click()
    expect(page.locator("#link-text")).to_contain_text("/console/link/")
    shot(page, "members-link-light")


def test_a_price_with_steps_tiers_and_hours_is_set_by_hand(
    visit: Visit, shot: Shot, running: Store
) -> None:
    for model, scripts in (("sandbox/lorem", True), ("sandbox/json", False)):
        page = visit(f"/console/prices/new?model={model}", scripts=scripts).page
        page.get_by_label("Input", exact=True).first.fill("2")
        page.get_by_label("Output", exact=True).first.fill("10")
        page.get_by_role("button", name="Add a step", exact=True).click()
        page.get_by_label("Above this many prompt tokens").fill("200,000")
        step = page.locator(".row-card").first
        step.get_by_label("Input", exact=True).fill("4")
        step.get_by_label("Output", exact=True).fill("15")
        page.get_by_role("button", name="Add a tier").click()
        page.get_by_label("Tier").fill("flex")
        page.get_by_label("Factor").fill("0.5")
        page.get_by_role("button", name="Add hours").click()
        page.get_by_label("Days and times, UTC").fill("Sat-Sun 00:00-24:00")
        hours = page.locator(".row-card").last
        hours.get_by_label("Input", exact=True).fill("1")
        hours.get_by_label("Output", exact=True).fill("5")
        page.get_by_role("button", name="Work it out").click()
        expect(page.get_by_role("cell", name="$0.012")).to_be_visible()
        shot(page, f"price-form-filled-{'light' if scripts else 'bare'}")
        page.get_by_role("button", name="Set it").click()
        expect(page.get_by_text(f"The price of {model} is set")).to_be_visible()
    page = visit("/console/prices/new?model=sandbox/lorem&since=", theme="dark", phone=True).page
    assert_fits(page)
    shot(page, "price-form-filled-phone")


def test_a_route_is_drained_once_one_is_sure(visit: Visit, running: Store) -> None:
    page = visit("/console/routes?q=sandbox/stall").page
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if len(asked) == 1:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    row = page.locator("table.routes tbody tr")
    row.get_by_role("button", name="Drain").click()
    expect(row.get_by_text("drained")).to_have_count(0)
    row.get_by_role("button", name="Drain").click()
    expect(page.get_by_text("sandbox:sandbox/stall is being drained")).to_be_visible()
    assert len(asked) == 2
    assert asked[0].startswith("Send nothing new to sandbox:sandbox/stall, on all nodes?")
    page.goto(page.url + "?q=sandbox/stall")
    expect(page.get_by_text("drained, nothing under way")).to_be_visible()
    page.locator(".stopped").get_by_role("listitem").filter(
        has_text="sandbox:sandbox/stall"
    ).get_by_role("button", name="Resume").click()
    expect(page.get_by_text("sandbox:sandbox/stall works again.")).to_be_visible()
