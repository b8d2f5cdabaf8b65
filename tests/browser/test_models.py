"""The table of models and a model's page, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_the_table_and_a_model_fit_every_window(
    visit: Visit, shot: Shot, theme: str, phone: bool
) -> None:
    opened = visit("/console/models", theme=theme, phone=phone)
    page = opened.page
    expect(page.get_by_role("link", name="Sandbox Echo")).to_be_visible()
    shot(page, f"models-{theme}-{'phone' if phone else 'desktop'}")
    assert_fits(page)
    opened.go("/console/models/sandbox/reasoning")
    expect(page.get_by_role("heading", name="Sandbox Reasoning")).to_be_visible()
    shot(page, f"models-one-{theme}-{'phone' if phone else 'desktop'}")
    assert_fits(page)


def test_it_filters_without_scripts(visit: Visit) -> None:
    page = visit("/console/models", scripts=False, role="member", language="nl").page
    page.get_by_label("Naam").fill("reason")
    page.get_by_role("button", name="Toon").click()
    expect(page.locator("#rows tbody tr")).to_have_count(1)
