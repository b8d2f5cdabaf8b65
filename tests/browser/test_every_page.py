"""Every page of the console: nothing sticks out, and nobody is kept out by how they read or point.

The second needs axe-core: `npm ci --ignore-scripts` in this folder.
"""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Opened, assert_fits
from zurelay.console.registry import PAGES
from zurelay.store.engine import Store
from zurelay.store.keys import list_keys

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

Visit = Callable[..., Opened]

ASKS_FOR_MORE = {"/console/prices/new"}
"""Pages that are about something their query names; their own tests open them."""


def paths(store: Store) -> list[str]:
    """Every page that shows something, with a key of its own where one is asked for."""
    with store.read() as connection:
        key = list_keys(connection)[0]
    found = [
        page.path.replace("{key}", key.id)
        .replace("{account}", key.account)
        .replace("{month}", time.strftime("%Y-%m"))
        .replace("{model:rest}", "sandbox/reasoning")
        for page in PAGES
        if page.method == "GET" and page.view is not None and "owner" in page.roles
        if not page.path.endswith(("/csv", "/json", "/usage"))  # these are downloads
    ]
    found += ["/console/prices/new?model=sandbox/echo"]
    return [path for path in found if "{" not in path and path not in ASKS_FOR_MORE]


def faults_of(page: Page) -> list[str]:
    """What axe finds serious; that the page fits is asserted."""
    assert_fits(page)
    if not AXE.exists():
        return []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:3]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.timeout(180)
def test_every_page_fits_and_has_no_serious_fault(
    visit: Visit, console_store: Store, theme: str, phone: bool
) -> None:
    opened = visit(theme=theme, phone=phone)
    faults = []
    for path in paths(console_store):
        faults += faults_of(opened.go(path))
    opened = visit(role="nobody", theme=theme, phone=phone)
    for path in ("/console/sign-in", "/console/link/over"):
        faults += faults_of(opened.go(path))
    opened.errors.clear()  # the link is over, which the browser calls a failed load
    assert faults == []
    if not AXE.exists():
        pytest.skip("needs `npm ci --ignore-scripts` in tests/browser")


def test_every_page_can_be_read_in_every_language_without_scripts(
    visit: Visit, console_store: Store
) -> None:
    for language in ("nl", "fr"):
        opened = visit(language=language, scripts=False)
        for path in paths(console_store):
            page = opened.go(path)
            assert page.locator("html").get_attribute("lang") == language
            assert page.locator("h1").count() == 1, path
