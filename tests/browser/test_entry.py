"""Signing in, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits, session_of
from tests.console.people import PASSWORD
from zurelay.store.engine import Store

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_the_door_fits_every_window(visit: Visit, shot: Shot, theme: str, phone: bool) -> None:
    page = visit("/console/sign-in", role="nobody", theme=theme, phone=phone).page
    shot(page, f"sign-in-{theme}-{'phone' if phone else 'desktop'}")
    assert_fits(page)


@pytest.mark.parametrize("scripts", [True, False])
def test_one_signs_in_with_address_and_password_and_out_again(
    visit: Visit, console_store: Store, scripts: bool
) -> None:
    session_of(console_store, "member")
    page = visit("/console/profile", role="nobody", scripts=scripts).page
    page.get_by_label("E-mail address").fill("member@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Profile")).to_be_visible()
    page.locator(".side-foot summary").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()


def test_language_and_theme_are_a_click_away(visit: Visit) -> None:
    page = visit("/console/sign-in", role="nobody").page
    page.get_by_role("button", name="Nederlands").click()
    expect(page.get_by_role("heading", name="Aanmelden")).to_be_visible()
    page.get_by_role("button", name="Donker").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_another_theme_shows_at_once_and_stays(visit: Visit) -> None:
    page = visit("/console/profile").page
    page.get_by_label("Name").fill("Not saved yet")
    page.locator(".side-foot summary").click()
    with page.expect_response("**/console/preferences"):
        page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Name")).to_have_value("Not saved yet")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_theme_is_chosen_without_scripts_too(visit: Visit) -> None:
    page = visit("/console/profile", scripts=False).page
    page.locator(".side-foot summary").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
def test_the_profile_fits_every_window(visit: Visit, shot: Shot, theme: str, phone: bool) -> None:
    page = visit("/console/profile", theme=theme, phone=phone).page
    shot(page, f"profile-{theme}-{'phone' if phone else 'desktop'}")
    assert_fits(page)
    if phone:
        page.get_by_role("button", name="Menu").click()
        expect(page.get_by_role("link", name="Documentation")).to_be_visible()
        shot(page, f"menu-{theme}-phone")
