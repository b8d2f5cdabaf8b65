"""Keys, in a real browser."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits, copied_by
from tests.console.people import OWNER
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.values import BudgetForm
from zurelay.store.engine import Store

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


def looks(theme: str, phone: bool) -> str:
    return f"{theme}-{'phone' if phone else 'desktop'}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_every_page_about_keys_fits_every_window(
    visit: Visit, shot: Shot, console_store: Store, theme: str, phone: bool
) -> None:
    name = f"website {uuid4().hex[:6]}"
    form = NewKey(name, budget=BudgetForm("20", "month"), rpm=60, models=["claude-opus-5-5"])
    create_key(Desk(console_store), OWNER, form)
    opened = visit("/console/keys", theme=theme, phone=phone)
    page = opened.page
    shot(page, f"keys-{looks(theme, phone)}")
    assert_fits(page)
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name="Renew or revoke")).to_be_visible()
    shot(page, f"keys-one-{looks(theme, phone)}")
    assert_fits(page)
    page.get_by_role("link", name="Change").click()
    page.wait_for_url("**/edit")
    shot(page, f"keys-form-{looks(theme, phone)}")
    assert_fits(page)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_key_is_made_copied_renewed_and_revoked(visit: Visit, shot: Shot, scripts: bool) -> None:
    page = visit("/console/keys", role="member", scripts=scripts).page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="New key").click()
    name = f"nightly {uuid4().hex[:6]}"
    page.get_by_label("Name").fill(name)
    page.get_by_label("At most").fill("5")
    page.get_by_label("Only these:").check()
    page.get_by_label("sandbox/echo", exact=True).check()
    page.get_by_role("button", name="Make the key").click()
    text = page.locator("#key-text").text_content() or ""
    assert text.startswith("zk-")
    if scripts:
        assert copied_by(page, page.locator(".secret .copy")) == text
    page.get_by_text("Python", exact=True).click()
    expect(page.get_by_text("from openai import OpenAI")).to_be_visible()
    shot(page, "keys-made")
    page.get_by_role("link", name="I have it").click()
    page.get_by_label("The old text works on for").select_option(label="one hour")
    page.get_by_role("button", name="Renew").click()
    expect(page.get_by_role("heading", name=f"{name} has a new text")).to_be_visible()
    page.get_by_role("link", name="I have it").click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text(f"{name} is revoked.")).to_be_visible()


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_an_operator_sets_a_key_s_mark_up_and_what_is_chosen_for_it(
    visit: Visit, shot: Shot, console_store: Store, theme: str, phone: bool
) -> None:
    name = f"reseller {uuid4().hex[:6]}"
    made = create_key(Desk(console_store), OWNER, NewKey(name)).details
    opened = visit(f"/console/keys/{made.id}", role="admin", theme=theme, phone=phone)
    page = opened.page
    page.get_by_role("link", name="Change").click()
    page.get_by_label("Mark-up").fill("1,25")
    page.get_by_label("It chooses among").fill("claude-*\ngpt-6*")
    page.get_by_label("But never").fill("*-astra")
    page.get_by_label("Dearest output").fill("25")
    shot(page, f"keys-operator-form-{theme}")
    assert_fits(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("\u00d7 1.25")).to_be_visible()
    expect(page.get_by_text("output at most $25.00")).to_be_visible()
    shot(page, f"keys-operator-{theme}")
    assert_fits(page)
    page = visit(f"/console/keys/{made.id}", role="member", theme=theme, phone=phone).page
    expect(page.get_by_text("output at most $25.00")).to_be_visible()
    expect(page.get_by_text("1.25")).to_have_count(0)
    page.get_by_role("link", name="Change").click()
    expect(page.get_by_label("Requests a minute")).to_be_visible()
    expect(page.get_by_label("Mark-up")).to_have_count(0)
