"""Stored messages in a browser: the form that opts in, and a request's page that shows them."""

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.browser.test_every_page import faults_of
from tests.conftest import CONTENT_KEY
from tests.console.people import OWNER
from tests.served import Served
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.store.content import find_content
from zurelay.store.engine import Store
from zurelay.store.requests import get_request
from zurelay.store.sealing import Sealer

Visit = Callable[..., Opened]
EVIL = '<script>document.title = "broken into"</script><img src=x onerror="document.title=1">'
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
MESSAGES = [
    {"role": "system", "content": "You are a careful assistant. Answer in one sentence."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": f"What is in this picture, and is it raining? {EVIL}"},
            {
                "type": "image_url",
                "image_url": {"url": "data:image/png;base64,iVBORw0KGgo" + "A" * 9001},
            },
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I had better look at the weather first.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "weather", "arguments": '{"city":"Ghent","days":[1,2,3]}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": '{"rain": true, "degrees": 9}'},
    {"role": "user", "content": "So?"},
]


@pytest.fixture(scope="module")
def stored(served: Served, console_store: Store) -> str:
    """The id of a request whose messages are stored."""
    desk = Desk(console_store, sealer=lambda: Sealer([CONTENT_KEY]))
    made = create_key(desk, OWNER, NewKey("recorded", store_days=30))
    body: dict[str, Any] = {"model": "sandbox/reasoning", "stream": True, "tools": TOOLS}
    request = urllib.request.Request(  # noqa: S310
        f"{served.base_url}/chat/completions",
        json.dumps(body | {"messages": MESSAGES}).encode(),
        {"authorization": f"Bearer {made.key}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
        id_: str = answer.headers["x-request-id"]
        answer.read()
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        with console_store.read() as connection:
            if find_content(connection, id_) and get_request(connection, id_, None):
                return id_
        time.sleep(0.02)
    raise AssertionError("it was not stored")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_conversation_is_drawn_and_does_nothing(
    visit: Visit, stored: str, shot: Callable[[Page, str], None], theme: str, phone: bool
) -> None:
    page = visit(f"/console/requests/{stored}", role="member", theme=theme, phone=phone).page
    messages = page.locator("#messages")
    expect(messages.get_by_role("heading", name="System")).to_be_visible()
    expect(messages.get_by_text('onerror="document.title=1"').first).to_be_visible()
    expect(messages.get_by_text("image/png, ").first).to_be_visible()
    assert messages.locator("img, script").count() == 0
    assert "broken" not in page.title()
    assert_fits(page)
    shot(page, f"messages-{theme}-{'phone' if phone else 'desktop'}")
    for summary in messages.locator("summary").all():
        summary.click()
    assert faults_of(page) == []
    shot(page, f"messages-open-{theme}-{'phone' if phone else 'desktop'}")


def test_the_request_is_copied(visit: Visit, stored: str) -> None:
    page = visit(f"/console/requests/{stored}", role="member").page
    raw = page.locator("#messages details.raw").first
    raw.locator("summary").click()
    raw.get_by_role("button", name="Copy").click()
    expect(raw.get_by_text("Copied")).to_be_visible()


def test_an_operator_asks_for_them_first(
    visit: Visit, stored: str, shot: Callable[[Page, str], None]
) -> None:
    page = visit(f"/console/requests/{stored}").page
    expect(page.get_by_text("written into the audit log")).to_be_visible()
    shot(page, "messages-operator")
    page.get_by_role("link", name="Show them").click()
    expect(page.get_by_text("Answer in one sentence.").first).to_be_visible()


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_key_is_made_that_stores(
    visit: Visit, shot: Callable[[Page, str], None], theme: str, phone: bool
) -> None:
    page = visit("/console/keys/new", role="member", theme=theme, phone=phone, language="nl").page
    page.get_by_label("Naam").fill(f"bewaard {theme} {phone}")
    page.get_by_label("Bewaartermijn").fill("14")
    assert_fits(page)
    shot(page, f"keys-form-{theme}-{'phone' if phone else 'desktop'}")
    page.get_by_role("button", name="Sleutel aanmaken").click()
    expect(page.locator("#key-text")).to_be_visible()
    page.goto(page.url)
    page.get_by_role("link", name=f"bewaard {theme} {phone}").click()
    expect(page.get_by_text("14 dagen bewaard")).to_be_visible()
    assert_fits(page)
    shot(page, f"keys-one-{theme}-{'phone' if phone else 'desktop'}")
