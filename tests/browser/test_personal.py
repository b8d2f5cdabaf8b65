"""Personal data, in a real browser."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opened, assert_fits
from tests.console.history import requests, write
from zurelay.store.engine import Store
from zurelay.store.keys import list_keys

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]


@pytest.mark.parametrize(
    ("theme", "phone", "scripts"), [("light", False, True), ("dark", True, False)]
)
def test_an_end_user_s_data_is_given_and_erased(
    visit: Visit,
    shot: Shot,
    console_store: Store,
    tmp_path: Path,
    theme: str,
    phone: bool,
    scripts: bool,
) -> None:
    user = f"ann-{uuid4().hex[:8]}"
    with console_store.read() as connection:
        key = list_keys(connection)[0]
    (one,) = requests(time.time(), 1, key.account, (key.id,), days=0.001)
    one.user = user
    write(console_store, iter([one]))
    opened = visit("/console/settings", theme=theme, phone=phone, scripts=scripts)
    page = opened.page
    page.get_by_role("link", name="Personal data").click()
    page.get_by_label("End user").fill(user)
    shot(page, f"personal-{theme}")
    assert_fits(page)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Get it as a file").click()
    downloading.value.save_as(tmp_path / "data.jsonl")
    lines = (tmp_path / "data.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["data"]["id"] for line in lines] == [one.id]
    page.get_by_role("button", name="Erase").click()
    expect(page.get_by_role("heading", name=f"Of the end user {user}")).to_be_visible()
    page.get_by_label("Write the name once more").fill("somebody")
    page.get_by_role("button", name="Erase for ever").click()
    expect(page.get_by_text("This is not the same name.")).to_be_visible()
    opened.errors.clear()  # the browser calls an answer that says so a failed load
    shot(page, f"personal-sure-{theme}")
    assert_fits(page)
    page.get_by_label("Write the name once more").fill(user)
    page.get_by_role("button", name="Erase for ever").click()
    expect(page.get_by_role("heading", name="Erased")).to_be_visible(timeout=20_000)
    shot(page, f"personal-done-{theme}")
    assert_fits(page)
