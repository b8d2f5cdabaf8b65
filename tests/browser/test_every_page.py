"""Every page of the console, on a gateway that holds the worst there can be: nothing is cut off or
sticks out, and nobody is kept out by how they read or point.

The second needs axe-core: `npm ci --ignore-scripts` in this folder.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import Error, Page

from tests.browser.conftest import DESKTOP, PHONE, Opened, assert_fits, opened_store
from tests.browser.extremes import MODELS, config, refusing
from tests.browser.filling import Filled, fill
from tests.served import Served, serve
from zurelay.console.registry import PAGES
from zurelay.store.engine import Store

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
TABLET = {"width": 1024, "height": 768}

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway whose providers and models have long names, and refuse all."""
    with (
        refusing() as upstream,
        serve(tmp_path_factory.mktemp("filled"), config(upstream)) as gateway,
    ):
        yield gateway


@pytest.fixture(scope="module")
def console_store(served: Served) -> Iterator[Store]:
    yield from opened_store(served)


@pytest.fixture(scope="module")
def filled(served: Served, console_store: Store) -> Filled:
    return fill(served, console_store)


def paths(filled: Filled, role: str, *, several: bool) -> list[str]:
    """Every page that somebody with that role may see; of those about one thing `several`."""
    things = {
        "{key}": filled.keys[:2],
        "{account}": filled.accounts[:1],
        "{model:rest}": [quote(model) for model in MODELS[:2]],
        "{request}": filled.requests[:3],
        "{thread}": filled.threads[:2],
    }
    found = []
    for page in PAGES:
        if page.method != "GET" or page.view is None or role not in page.roles:
            continue
        if "nobody" in page.roles:  # whoever is signed in is sent away from there
            continue
        if "/playground/requests/" in page.path:  # a part of a page
            continue
        path = page.path.replace("{month}", time.strftime("%Y-%m"))
        kinds = [kind for kind in things if kind in path]
        ways = [path.replace(kind, one) for kind in kinds for one in things[kind]] or [path]
        found += ways if several else ways[:1]
    first, last = filled.accounts[0], filled.accounts[-1]
    found += [
        f"/console/billing?account={first}",
        f"/console/billing/alerts?account={first}",
        f"/console/members?account={first}",
        "/console?span=30d&by=user",
    ]
    if several:
        found += ["/console?span=30d&by=key", "/console/keys?show=all"]
    if role == "owner":
        found += [
            f"/console/prices/new?model={quote(MODELS[1])}",
            f"/console/requests/{filled.requests[0]}?messages=show",
        ]
    if role == "owner" and several:
        found += [
            "/console?span=30d&by=account",
            f"/console/billing?account={last}",
            f"/console/requests/{filled.requests[1]}?messages=show",
        ]
    return [path for path in found if "{" not in path and path != "/console/prices/new"]


def pages_of(opened: Opened, filled: Filled, role: str, *, several: bool = True) -> Iterator[Page]:
    """Each of them, once it is there; what is downloaded is none."""
    for path in paths(filled, role, several=several):
        try:
            answer = opened.page.goto(f"{opened.origin}{path}")
        except Error as error:
            if "Download is starting" not in error.message:
                raise
            continue
        assert answer is not None
        assert answer.status == 200, path
        yield opened.page


def door(opened: Opened, filled: Filled) -> Iterator[Page]:
    """The pages for whoever is not signed in."""
    for path in ("/console/sign-in", "/console/forgot", f"/console/link/{filled.link}"):
        yield opened.go(path)
    yield opened.go("/console/link/over")
    opened.errors.clear()  # the link is over, which the browser calls a failed load


def fits_every_window(page: Page, shot: Shot, name: str, *, thorough: bool) -> None:
    """At several widths; `thorough`: at one more, and with all opened that can be."""
    for size in (DESKTOP, TABLET, PHONE) if thorough else (DESKTOP, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        # Charts are drawn anew a frame after the window was given another size.
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
        shot(page, f"{name}-{size['width']}")
        assert_fits(page)
        if thorough:
            page.evaluate(_OPENED_OR_CLOSED)
            assert_fits(page)
            page.evaluate(_OPENED_OR_CLOSED)
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]


_OPENED_OR_CLOSED = "for (const one of document.querySelectorAll('details')) one.open ^= true"


def faults_of(page: Page, rule: str = "") -> list[str]:
    """What axe finds serious, by all its rules or by one; that the page fits is asserted."""
    assert_fits(page)
    if not AXE.exists():
        return []
    if not page.evaluate("!!window.axe"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    by = f", runOnly: ['{rule}']" if rule else ""
    found = page.evaluate(f"axe.run({{resultTypes: ['violations']{by}}})")
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:3]
    ]


@pytest.mark.parametrize(
    ("language", "role"), [("en", "owner"), ("nl", "owner"), ("fr", "owner"), ("fr", "member")]
)
@pytest.mark.timeout(180)
def test_nothing_is_cut_off_whatever_is_on_the_page(
    visit: Visit, shot: Shot, filled: Filled, language: str, role: str
) -> None:
    thorough = language == "fr"  # its words are the longest
    opened = visit(session=filled.sessions[role], language=language)
    for number, page in enumerate(pages_of(opened, filled, role)):
        assert page.locator("html").get_attribute("lang") == language
        fits_every_window(page, shot, f"filled-{language}-{role}-{number}", thorough=thorough)
    for page in door(visit(role="nobody", language=language), filled):
        fits_every_window(page, shot, f"filled-{language}-{role}-door", thorough=thorough)


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.timeout(180)
def test_no_page_has_a_serious_fault(visit: Visit, filled: Filled, phone: bool) -> None:
    theme = "dark" if phone else "light"
    opened = visit(session=filled.sessions["owner"], theme=theme, phone=phone)
    faults = []
    for page in pages_of(opened, filled, "owner", several=False):
        faults += faults_of(page) if phone else in_both_themes(page)
    for page in door(visit(role="nobody", theme=theme, phone=phone), filled):
        faults += faults_of(page) if phone else in_both_themes(page)
    assert faults == []
    if not AXE.exists():
        pytest.skip("needs `npm ci --ignore-scripts` in tests/browser")


def in_both_themes(page: Page) -> list[str]:
    """Faults in the light, and those of colours in the dark."""
    found = []
    themes: tuple[tuple[Literal["light", "dark"], str], ...]
    themes = (("light", ""), ("dark", "color-contrast"))
    for theme, rule in themes:
        page.emulate_media(color_scheme=theme)
        # Colours change little by little.
        page.evaluate("for (const one of document.getAnimations()) one.finish()")
        found += faults_of(page, rule)
    return found


@pytest.mark.timeout(180)
def test_every_page_can_be_read_without_scripts(visit: Visit, filled: Filled) -> None:
    opened = visit(session=filled.sessions["owner"], language="nl", scripts=False)
    for page in pages_of(opened, filled, "owner", several=False):
        assert page.locator("html").get_attribute("lang") == "nl"
        assert page.locator("h1").count() == 1, page.url
        assert_fits(page)
