"""The request log and a request's page, in a real browser."""

import http.client
import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.served import Served
from zurelay.store.engine import Store
from zurelay.store.requests import get_request

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.fixture(scope="session")
def asked(served: Served, console_store: Store) -> str:
    """A request whose first route failed; its id."""
    body = {
        "model": "sandbox/error?status=500",
        "models": ["sandbox/echo"],
        "messages": [{"role": "user", "content": "Hi"}],
        "user": "alice",
    }
    at = urlsplit(served.origin)
    connection = http.client.HTTPConnection(str(at.hostname), at.port)
    headers = {"authorization": f"Bearer {served.key}", "content-type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    answer = connection.getresponse()
    assert answer.status == 200
    answer.read()
    connection.close()
    id_ = answer.headers["x-request-id"]
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:  # the log has it a moment later
        with console_store.read() as reading:
            if get_request(reading, id_, None):
                return id_
        time.sleep(0.02)
    raise AssertionError("it is not in the log")


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_a_request_is_found_and_its_tries_are_seen(
    visit: Visit, shot: Shot, asked: str, theme: str, phone: bool
) -> None:
    page = visit("/console/requests?user=alice", theme=theme, phone=phone).page
    link = page.locator(f'a[href="/console/requests/{asked}"]')
    size = "phone" if phone else "desktop"
    shot(page, f"requests-{theme}-{size}")
    assert_fits(page)
    link.click()
    expect(page.locator(".timeline li")).to_have_count(2)
    shot(page, f"request-{theme}-{size}")
    assert_fits(page)
