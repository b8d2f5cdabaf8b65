"""Support, in a real browser."""

import re
from collections.abc import Callable
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


def test_a_member_asks_and_an_operator_answers(visit: Visit, shot: Shot) -> None:
    subject = f"Answers are slow since {uuid4().hex[:8]}"
    page = visit("/console/support/new", role="member").page
    page.get_by_label("Subject").fill(subject)
    page.get_by_label("Message").fill("The first token takes ten seconds.\n\nIs that known?")
    shot(page, "support-new-light")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("waits for an answer")).to_be_visible()
    page = visit("/console/support", theme="dark", phone=True).page
    row = page.locator("tr", has_text=subject)
    expect(row.get_by_text("new", exact=True)).to_be_visible()
    menu = page.get_by_role("button", name="Menu")
    expect(menu).to_have_accessible_description("Something in it was not read yet.")
    menu.click()
    expect(page.get_by_role("link", name=re.compile(r"Support \d+ not read"))).to_be_visible()
    page.keyboard.press("Escape")
    shot(page, "support-dark")
    assert_fits(page)
    page.get_by_role("link", name=subject).click()
    page.get_by_label("Answer").fill("Yes: a provider was down. It is back.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("It is back.")).to_be_visible()
    shot(page, "support-one-dark")
    assert_fits(page)
    page = visit("/console/support", role="member").page
    row = page.locator("tr", has_text=subject)
    expect(row.get_by_text("new", exact=True)).to_be_visible()
    shot(page, "support-light")
    page.get_by_role("link", name=subject).click()
    expect(page.get_by_text("It is back.")).to_be_visible()
    shot(page, "support-one-light")
