"""The guide, in a real browser: read, searched, filled in and copied."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import Opened, assert_fits, copied_by
from tests.browser.test_every_page import AXE
from zurelay.docs.menu import PAGES

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]

KEY = "zk-reader-0123456789abcdef"


def nobody(visit: Visit, path: str, **how: object) -> Opened:
    return visit(path, role="nobody", **how)


def faults(page: Page) -> list[str]:
    """What axe-core finds serious; nothing where it is not installed."""
    if not AXE.exists():
        return []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{page.url}: {fault['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical", "moderate")
        for node in fault["nodes"][:3]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.timeout(180)
def test_every_page_fits_and_keeps_nobody_out(
    visit: Visit, shot: Shot, theme: str, phone: bool
) -> None:
    opened = nobody(visit, "", theme=theme, phone=phone)
    found = []
    for path in ("/", "/docs", "/docs/en/no-such-page", *(f"/docs/{page}" for page in PAGES)):
        if path.endswith("no-such-page"):
            opened.page.goto(f"{opened.origin}{path}")
            opened.errors.clear()  # Chromium says that it was a 404
        else:
            opened.go(path)
        assert_fits(opened.page)
        name = path.strip("/").replace("/", "-") or "front"
        shot(opened.page, f"{name}-{theme}-{'phone' if phone else 'desktop'}")
        found += faults(opened.page)
    assert found == []


def test_the_menu_leads_to_every_page_and_on_to_the_next(visit: Visit) -> None:
    page = nobody(visit, "/docs").page
    page.get_by_role("link", name="Streaming").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Streaming")
    expect(page.locator(".side-list [aria-current]")).to_have_text("Streaming")
    page.locator(".beside .after").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tool calling")
    page.locator(".beside .before").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Streaming")


def test_a_key_fills_the_samples_and_leaves_the_browser_in_no_request(visit: Visit) -> None:
    opened = nobody(visit, "/docs/en/quickstart")
    page = opened.page
    sent: list[str] = []
    page.on(
        "request",
        lambda asked: sent.append(f"{asked.url} {asked.all_headers()} {asked.post_data or ''}"),
    )
    first = page.locator(".tabbed").first
    expect(first.locator("code").first).to_contain_text("Bearer $ZURELAY_API_KEY")
    page.get_by_label("Your key").fill(KEY)
    expect(first.locator("code").first).to_contain_text(f'"Authorization: Bearer {KEY}"')
    first.get_by_text("Python").click()
    expect(first.locator("code").nth(1)).to_contain_text(f'api_key="{KEY}"')
    first.get_by_text("Node.js").click()
    expect(first.locator("code").nth(2)).to_contain_text(f'apiKey: "{KEY}"')
    opened.go("/docs/en")
    expect(page.locator(".steps")).to_contain_text(f'api_key="{KEY}"')
    opened.go("/docs/en/streaming")
    expect(page.get_by_label("Your key")).to_have_value(KEY)
    expect(page.locator(".prose")).to_contain_text(KEY)
    page.locator("[name=language][value=nl]").click()
    expect(page.locator("html")).to_have_attribute("lang", "nl")
    expect(page.locator(".prose")).to_contain_text(KEY)
    page.get_by_label("Uw sleutel").fill("no key")
    expect(page.locator("#reader-key-hint")).to_have_text("Dit lijkt geen sleutel te zijn.")
    expect(page.locator(".prose")).not_to_contain_text(KEY)
    assert sent
    assert [one for one in sent if "reader-0123" in one] == []


def test_what_is_copied_is_what_is_seen(visit: Visit) -> None:
    opened = nobody(visit, "")
    page = opened.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.go("/docs/en/quickstart")
    page.get_by_label("Your key").fill(KEY)
    sample = page.locator(".tabbed").first
    sample.get_by_text("Python").click()
    copied = copied_by(page, sample.get_by_role("button", name="Copy"))
    assert f'base_url="{opened.origin}/v1", api_key="{KEY}"' in copied
    copied = copied_by(page, page.get_by_role("button", name="Copy page"))
    assert copied.startswith("# Quickstart\n")
    assert KEY not in copied


def test_samples_name_the_address_that_the_reader_came_by(visit: Visit) -> None:
    """No public address is configured here, and `localhost` is another name of this machine."""
    opened = nobody(visit, "")
    page = opened.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    came_by = opened.origin.replace("127.0.0.1", "localhost")
    assert came_by != opened.origin
    for path in ("/", "/docs/en", "/docs/nl/sdks", "/docs/fr/embeddings", "/docs/en/quickstart"):
        page.goto(f"{came_by}{path}")
        expect(page.locator("main")).to_contain_text(f"{came_by}/v1")
        assert opened.origin not in (page.locator("main").text_content() or ""), path
    page.get_by_label("Your key").fill(KEY)
    sample = page.locator(".tabbed").first
    expect(sample.locator("pre").first).to_contain_text(f" {came_by}/v1/chat/completions ")
    sample.get_by_text("Python").click()
    copied = copied_by(page, sample.get_by_role("button", name="Copy"))
    assert f'base_url="{came_by}/v1", api_key="{KEY}"' in copied
    copied = copied_by(page, page.get_by_role("button", name="Copy page"))
    assert f"{came_by}/v1" in copied
    assert opened.origin not in copied


def test_an_address_divided_by_marks_is_put_in_one_piece(visit: Visit) -> None:
    page = nobody(visit, "/docs/en/sdks").page
    came_by = page.evaluate("location.origin")
    text = page.evaluate(
        """async () => {
            document.documentElement.dataset.local = 'http://10.0.0.1:1';
            const code = document.createElement('code');
            code.id = 'divided';
            code.innerHTML = 'a http:/<wbr>/10.<b>0.0</b>.1:1/v1 b http://10.0.0.1:1<i>/v2</i>';
            document.querySelector('main').append(code);
            const script = document.createElement('script');
            script.src = document.querySelector('script[src*=origin]').src;
            script.type = 'module';  // a scope of its own, so that it runs once more
            const done = new Promise((loaded) => { script.onload = loaded; });
            document.head.append(script);
            await done;
            return code.textContent;
        }"""
    )
    assert text == f"a {came_by}/v1 b {came_by}/v2"


def test_without_scripts_samples_name_the_address_of_the_machine(visit: Visit) -> None:
    opened = nobody(visit, "", scripts=False)
    opened.page.goto(opened.origin.replace("127.0.0.1", "localhost") + "/docs/en/quickstart")
    expect(opened.page.locator(".prose")).to_contain_text(f"{opened.origin}/v1")


def test_the_language_of_samples_is_chosen_once(visit: Visit) -> None:
    opened = nobody(visit, "/docs/en/quickstart")
    page = opened.page
    page.locator(".tabbed").first.get_by_text("Node.js").click()
    for sample in page.locator(".tabbed").all():
        if sample.locator("input[value=js]").count():
            expect(sample.locator("input[value=js]")).to_be_checked()
    opened.go("/docs/en")
    expect(page.locator(".tabbed input[value=js]").first).to_be_checked()
    page.locator(".tabbed input[value=js]").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".tabbed input[value=python]").first).to_be_checked()


def test_search_is_a_key_away_and_finds_by_every_word(visit: Visit, shot: Shot) -> None:
    page = nobody(visit, "/docs/en/streaming").page
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search the documentation")
    expect(field).to_be_focused()
    field.fill("idempotency")
    expect(page.get_by_role("option").first).to_contain_text("Idem")
    field.fill("retry header")
    expect(page.get_by_role("option").first).to_be_visible()
    shot(page, "search")
    assert faults(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    field.fill("qqqq <b>")
    expect(page.locator(".search-state")).to_have_text("Nothing was found for “qqqq <b>”.")
    field.fill("stream tools")
    expect(page.get_by_role("option").first).to_contain_text("Streaming · Tool calling")
    field.fill("streamable idempotency")
    expect(page.get_by_role("option").first).to_contain_text("Idem")
    field.fill("tool calling")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tool calling")


def test_search_in_french_needs_no_accents(visit: Visit) -> None:
    page = nobody(visit, "/docs/fr/streaming").page
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("fiabilite")
    expect(page.get_by_role("option").first).to_contain_text("Fiabilité")


def test_a_language_and_a_theme_hold_for_the_console_too(visit: Visit) -> None:
    opened = nobody(visit, "/docs/quickstart")
    page = opened.page
    page.locator("[name=language][value=fr]").click()
    expect(page).to_have_url(f"{opened.origin}/docs/fr/quickstart")
    opened.go("/docs/streaming")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.locator("[name=theme][value=dark]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_load_state("networkidle")
    opened.go("/console/sign-in")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_contents_mark_the_heading_in_view(visit: Visit) -> None:
    page = nobody(visit, "/docs/en/sandbox").page
    page.locator(".contents a").nth(2).click()
    expect(page.locator(".contents [aria-current]")).to_have_count(1)
    expect(page.locator(".contents a").nth(2)).to_have_attribute("aria-current", "true")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator(".contents a").last).to_have_attribute("aria-current", "true")


def test_another_language_shows_the_same_part(visit: Visit) -> None:
    page = nobody(visit, "/docs/en/sandbox").page
    page.locator(".contents a").nth(3).click()
    expect(page.locator(".contents a").nth(3)).to_have_attribute("aria-current", "true")
    page.locator("[name=language][value=fr]").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator(".contents a").nth(3)).to_have_attribute("aria-current", "true")
    page.locator(".side-list a").first.click()
    expect(page.locator(".contents [aria-current]")).to_have_count(0)


def test_on_a_phone_the_menu_and_the_search_open(visit: Visit, shot: Shot) -> None:
    page = nobody(visit, "/docs/en/streaming", phone=True).page
    expect(page.locator("#nav")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(page.locator("#nav")).to_be_visible()
    shot(page, "menu-phone")
    page.locator("#nav").get_by_role("link", name="Errors").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Errors")
    page.locator("header.top").get_by_role("button", name="Search").click()
    page.get_by_role("combobox").fill("limit")
    page.get_by_role("option").first.click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_text("On this page").last.click()
    page.locator(".contents-small a").first.click()
    expect(page).to_have_url(re.compile("#"))


def test_the_guide_can_be_read_without_scripts(visit: Visit, shot: Shot) -> None:
    opened = nobody(visit, "/docs", scripts=False)
    page = opened.page
    expect(page.get_by_label("Your key")).to_be_hidden()
    expect(page.locator("[data-search]").first).to_be_hidden()
    page.locator(".side-list").get_by_role("link", name="Quickstart").click()
    sample = page.locator(".tabbed").first
    expect(sample.locator("pre").first).to_be_visible()
    sample.get_by_text("Python").click()
    expect(sample.locator("pre").nth(1)).to_be_visible()
    expect(sample.locator("pre").first).to_be_hidden()
    page.locator("[name=language][value=nl]").click()
    expect(page.locator("html")).to_have_attribute("lang", "nl")
    page.locator("[name=theme][value=dark]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    shot(page, "no-scripts")


def test_levels_can_be_filtered(visit: Visit) -> None:
    page = nobody(visit, "/docs/en/reasoning").page
    rows = page.locator(".levels tbody tr")
    if page.locator("[data-filter]").count() == 0:
        expect(rows.filter(has_text="sandbox/reasoning")).to_have_count(1)
        return
    page.locator("[data-filter]").fill("sandbox/reas")
    expect(rows.locator("visible=true")).to_have_count(1)


def test_a_page_is_small_with_all_it_loads(visit: Visit) -> None:
    opened = nobody(visit, "")
    asked: list[Request] = []
    opened.page.on("request", lambda each: asked.append(each))  # noqa: PLW0108 - it marks what it is given
    for page in ("quickstart", "tool-calling", "reasoning"):
        asked.clear()
        opened.go(f"/docs/en/{page}")
        opened.page.keyboard.press("/")
        expect(opened.page.get_by_role("combobox")).to_be_focused()
        sent = sum(each.sizes()["responseBodySize"] for each in asked)
        assert 1_000 < sent < 150_000, page
