"""A forgotten password, and an invitation that is mailed, in a real browser."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits, opened_store
from tests.mail_server import mail_server
from tests.served import Served, serve
from zurelay.store.engine import Store

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway that sends mail."""
    with mail_server() as server:
        config = (
            "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n"
            f'[smtp]\nhost = "127.0.0.1"\nport = {server.port}\nsecurity = "none"\n'
            'sender = "ai@example.com"\n'
        )
        with serve(tmp_path_factory.mktemp("mailing"), config) as gateway:
            yield gateway


@pytest.fixture(scope="module")
def console_store(served: Served) -> Iterator[Store]:
    yield from opened_store(served)


@pytest.mark.parametrize(
    ("theme", "phone", "language", "scripts"),
    [
        ("light", False, "en", True),
        ("dark", True, "nl", True),
        ("light", True, "fr", False),
        ("dark", False, "en", False),
    ],
)
def test_one_asks_for_a_link_at_the_door(
    visit: Visit, shot: Shot, theme: str, phone: bool, language: str, scripts: bool
) -> None:
    opened = visit(
        "/console/sign-in",
        role="nobody",
        theme=theme,
        phone=phone,
        language=language,
        scripts=scripts,
    )
    page, name = opened.page, f"forgot-{theme}-{'phone' if phone else 'desktop'}"
    shot(page, f"{name}-door")
    page.locator('a[href="/console/forgot"]').click()
    page.wait_for_url("**/console/forgot")
    shot(page, name)
    assert_fits(page)
    page.locator("input[name=email]").fill("nobody@example.com")
    page.locator("form[action='/console/forgot'] button").click()
    expect(page.locator("main p[role=status]")).to_be_visible()
    shot(page, f"{name}-asked")
    assert_fits(page)


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_an_invitation_says_that_it_is_mailed(
    visit: Visit, shot: Shot, theme: str, phone: bool
) -> None:
    page = visit("/console/members", theme=theme, phone=phone).page
    page.locator("#invite").get_by_label("Name", exact=True).fill("Ann Peeters")
    page.get_by_label("E-mail").fill(f"ann.{theme}@example.com")
    page.get_by_role("button", name="Make the invitation").click()
    expect(page.get_by_text(f"on its way to ann.{theme}@example.com")).to_be_visible()
    expect(page.locator("#link-text")).to_contain_text("/console/link/")
    shot(page, f"mailed-{theme}")
    assert_fits(page)
