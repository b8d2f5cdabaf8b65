"""Admin tokens, in a real browser."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits, copied_by

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_a_token_is_made_copied_and_revoked(
    visit: Visit, shot: Shot, theme: str, phone: bool
) -> None:
    page = visit("/console/settings", theme=theme, phone=phone).page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Admin tokens").click()
    name = f"monitoring {uuid4().hex[:6]}"
    page.get_by_label("Name").fill(name)
    page.get_by_label("Administrator").check()
    shot(page, f"tokens-form-{theme}")
    page.get_by_role("button", name="Make the token").click()
    text = page.locator("#token-text").text_content() or ""
    assert text.startswith("zka-")
    assert copied_by(page, page.locator(".secret .copy")) == text
    shot(page, f"tokens-made-{theme}")
    assert_fits(page)
    page.get_by_role("link", name="I have it").click()
    row = page.locator("tr", has_text=name)
    expect(row).to_contain_text("Administrator")
    shot(page, f"tokens-{theme}")
    assert_fits(page)
    page.on("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text(f"{name} is revoked.")).to_be_visible()
    expect(row).to_have_count(0)
