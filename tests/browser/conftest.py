"""Chromium of the system against a gateway in a process of its own.

A test takes `visit`, which opens a page of the console as somebody who is signed in. Without a
Chromium these tests are skipped.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from tests.console.people import OWNER, PASSWORD
from tests.served import Served
from zurelay.chat.problems import Refused
from zurelay.office.desk import Desk
from zurelay.office.links import follow, member_link
from zurelay.office.members import NewMember, add
from zurelay.store.engine import Store, open_store

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SHOTS = os.environ.get("ZURELAY_SCREENSHOTS")
"""Where screenshots go; none are taken without it."""

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened_store(served: Served, url: str = "") -> Iterator[Store]:
    """The store of a gateway that serves; `url`: its `storage.url`."""
    store = open_store(served.folder / "zurelay-data", url)
    yield store
    store.close()


@pytest.fixture(scope="session")
def console_store(served: Served) -> Iterator[Store]:
    """The store of the gateway that serves."""
    yield from opened_store(served)


@dataclass
class Opened:
    """A page in a browser of somebody's own. `errors` is what it complained about."""

    page: Page
    errors: list[str]
    origin: str

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.origin}{path}")
        return self.page


@pytest.fixture
def visit(
    browser: Browser, served: Served, console_store: Store
) -> Iterator[Callable[..., Opened]]:
    """Gives a browser: `visit("/console/keys", role="member", theme="dark", phone=True)`.

    With a `session`, the text of one, it is that of whoever began it.
    Whatever a page complains about in the browser's console fails the test.
    """
    contexts: list[tuple[BrowserContext, list[str]]] = []
    # A new session of somebody ends the one before, and a page that is open still asks on.
    sessions: dict[str, str] = {}

    def opened(
        path: str = "",
        *,
        role: str = "owner",
        theme: str = "light",
        phone: bool = False,
        language: str = "en",
        scripts: bool = True,
        session: str = "",
    ) -> Opened:
        context = browser.new_context(
            viewport=PHONE if phone else DESKTOP,  # type: ignore[arg-type]
            color_scheme=theme,  # type: ignore[arg-type]
            locale=language,
            java_script_enabled=scripts,
            device_scale_factor=2 if phone else 1,
            has_touch=phone,
            timezone_id="Europe/Brussels",
            reduced_motion="reduce",
        )
        errors: list[str] = []
        contexts.append((context, errors))
        context.set_default_timeout(10_000)
        if not session and role != "nobody":
            session = sessions.get(role) or session_of(console_store, role)
            sessions[role] = session
        if session:
            context.add_cookies(
                [
                    {
                        "name": "zurelay_session",
                        "value": session,
                        "url": served.origin,
                        "httpOnly": True,
                        "sameSite": "Lax",
                    }
                ]
            )
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        made = Opened(page, errors, served.origin)
        if path:
            made.go(path)
        return made

    yield opened
    complaints = [error for _, errors in contexts for error in errors]
    for context, _ in contexts:
        context.close()
    assert complaints == []


def session_of(store: Store, role: str) -> str:
    """The text of a new session of somebody with that role."""
    desk = Desk(store)
    form = NewMember(f"{role}@example.com", f"{role.title()} Example", role)  # type: ignore[arg-type]
    try:
        add(desk, OWNER, "default", form)
    except Refused as refused:
        assert refused.problem.code == "conflict"
    _, text = member_link(desk, OWNER, "default", form.email)
    return follow(desk, text, "test", name=form.name, password=PASSWORD).text


@pytest.fixture
def shot() -> Callable[[Page, str], None]:
    """Takes a screenshot of a whole page, where somebody wants to look at them."""

    def take(page: Page, name: str) -> None:
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)

    return take


def copied_by(page: Page, button: Locator) -> str:
    """What a click on a button copies, once it is copied."""
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    return str(page.evaluate(_COPIED))


_COPIED = """async () => {
  const end = Date.now() + 20000;
  while (Date.now() < end) {
    const text = await navigator.clipboard.readText();
    if (text) return text;
    await new Promise((later) => setTimeout(later, 20));
  }
  return '';
}"""


def assert_fits(page: Page) -> None:
    """Nothing sticks out of the window, of a table's panel or of whatever else it stands in.

    An ellipsis at the end of a text is no fault, nor is code that scrolls.
    """
    assert page.evaluate(_STICKS_OUT) == [], page.url


_STICKS_OUT = """() => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  const found = [], boxes = [];
  for (const one of document.querySelectorAll('body, body *')) {
    if (one.closest('svg, .u-wrap, .visually-hidden, .skip') || !one.clientWidth) continue;
    if (/^(INPUT|SELECT|TEXTAREA|PROGRESS)$/.test(one.tagName)) continue;
    const head = one.closest('thead');  // on a phone it is there for screen readers alone
    if (head && getComputedStyle(head).position === 'absolute') continue;
    const style = getComputedStyle(one), over = one.scrollWidth - one.clientWidth;
    if (over < 2 || style.display === 'inline' || style.visibility === 'hidden') continue;
    const scrolls = ['auto', 'scroll'].includes(style.overflowX);
    if (scrolls && !one.matches('.panel.flush, .panel.flush .scroll')) continue;
    if (style.overflowX === 'hidden' && style.textOverflow === 'ellipsis') continue;
    boxes.push([one, over]);
  }
  for (const [one, over] of boxes) {
    if (boxes.some(([other]) => other !== one && one.contains(other))) continue;
    const text = one.innerText.trim().slice(0, 60);
    found.push(`${over} px of ${one.tagName.toLowerCase()} ${one.className}: ${text}`);
  }
  return wide > 0 && !found.length ? [`${wide} px of the window`] : found;
}"""
