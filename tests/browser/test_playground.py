"""The playground, in a real browser."""

import ast
import json
import shlex
from collections.abc import Callable
from typing import TypeGuard

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import Opened, assert_fits

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf"
    "c000000301010018dd8db00000000049454e44ae426082"
)


def send(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_role("button", name="Send", exact=True).click()


@pytest.mark.parametrize(("theme", "phone"), [("light", False), ("dark", True)])
def test_a_question_is_answered_with_thinking_apart_and_costs(
    visit: Visit, shot: Shot, theme: str, phone: bool
) -> None:
    page = visit("/console/playground", role="member", theme=theme, phone=phone).page
    page.get_by_label("Effort").first.select_option("high")
    send(page, "What is a gateway?")
    answer = page.locator("#pane-a .answer")
    expect(answer.get_by_role("link", name="Request")).to_be_visible()
    expect(answer.locator("details.thinking")).to_be_visible()
    expect(answer.locator(".facts-line")).to_contain_text("effort high")
    expect(answer.locator(".facts-line")).to_contain_text("$0.00")
    expect(page.locator("#code pre code").first).to_contain_text('"reasoning_effort": "high"')
    shot(page, f"playground-{theme}-{'phone' if phone else 'desktop'}")
    assert_fits(page)


def test_two_models_answer_side_by_side_and_remember_what_was_said(
    visit: Visit, shot: Shot
) -> None:
    page = visit("/console/playground?model=sandbox/echo", theme="dark").page
    page.get_by_label("Compare with a second model").check()
    page.get_by_label("Second model", exact=True).fill("sandbox/lorem?tokens=40")
    send(page, "first <b>question</b>")
    expect(page.get_by_role("link", name="Request", exact=True)).to_have_count(2)
    send(page, "second")
    expect(page.locator("#pane-a .answer")).to_have_count(2)
    expect(page.locator("#pane-b .answer > .said").last).not_to_be_empty()
    expect(page.locator("#pane-a .answer > .said").first).to_contain_text("first <b>question</b>")
    expect(page.get_by_role("link", name="Request", exact=True)).to_have_count(4)
    shot(page, "playground-two-dark-desktop")
    page.get_by_role("button", name="Begin anew").click()
    expect(page.locator(".turn")).to_have_count(0)


def test_images_and_files_go_along_and_stand_in_the_code(visit: Visit) -> None:
    page = visit("/console/playground?model=sandbox/echo").page
    chosen: list[FilePayload] = [
        {"name": "a.png", "mimeType": "image/png", "buffer": PNG},
        {"name": "b.pdf", "mimeType": "application/pdf", "buffer": PDF},
        {"name": "c.zip", "mimeType": "application/zip", "buffer": b"PK"},
    ]
    page.locator("#f-files").set_input_files(chosen)
    expect(page.locator("#files li")).to_have_count(2)
    expect(page.get_by_text("Only images and PDF files.")).to_be_visible()
    expect(page.locator("#code pre code").first).to_contain_text("data:image/png;base64")
    send(page, "What is this?")
    expect(page.locator("#pane-a .user img")).to_be_visible()
    expect(page.get_by_role("link", name="Request", exact=True)).to_be_visible()
    expect(page.locator("#pane-a .problem")).to_have_count(0)


def test_the_code_is_the_request_and_runs(visit: Visit) -> None:
    """Its Python is read by Python: the arguments are those of the request."""
    page = visit("/console/playground?model=sandbox/echo").page
    page.get_by_label("System prompt").fill('Don\'t "shout"')
    page.get_by_text("Tools", exact=True).click()
    page.locator("[data-fill=tools]").click()
    page.get_by_label("Your message").fill("It's\n5 o'clock")
    curl, python, node = page.locator("#code pre code").all_text_contents()
    asked: dict[str, object] = {}
    call = next(one for one in ast.walk(ast.parse(python)) if _creates(one))
    for keyword in call.keywords:
        asked[keyword.arg or ""] = ast.literal_eval(keyword.value)
    messages = [
        {"role": "system", "content": 'Don\'t "shout"'},
        {"role": "user", "content": "It's\n5 o'clock"},
    ]
    assert (asked["model"], asked["messages"], asked["stream"]) == ("sandbox/echo", messages, True)
    assert json.loads(shlex.split(curl.replace("\\\n", " "))[-1]) == asked
    start = node.index("create(") + len("create(")
    assert json.loads(node[start : node.index(");\nfor await")]) == asked


def _creates(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "create"
    )


def test_tools_are_called_and_answered(visit: Visit) -> None:
    page = visit("/console/playground?model=sandbox/tools").page
    page.get_by_text("Tools", exact=True).click()
    page.locator("[data-fill=tools]").click()
    send(page, "Weather?")
    expect(page.locator("#pane-a .call code")).to_have_text("get_weather")
    page.locator("#pane-a .results textarea").fill("sunny")
    page.get_by_role("button", name="Send the results").click()
    expect(page.locator("#pane-a .answer")).to_have_count(2)


def test_what_breaks_is_shown_as_a_client_gets_it(visit: Visit, shot: Shot) -> None:
    opened = visit("/console/playground")
    page = opened.page
    page.get_by_text("Break it").click()
    page.get_by_role("button", name="Rate limited, with retry-after").click()
    expect(page.locator("#pane-a .problem")).to_contain_text("429")
    expect(page.locator("#pane-a .raw pre").last).to_contain_text("retry-after: 2")
    page.get_by_role("button", name="It breaks off after 10 tokens").click()
    expect(page.locator("#pane-a .problem")).to_have_count(2)
    expect(page.locator("#pane-a .raw pre").last).to_contain_text("HTTP/1.1 200")
    shot(page, "playground-broken-light-desktop")
    # The browser notes each refused call by itself.
    opened.errors[:] = [one for one in opened.errors if "429" not in one]


def test_an_answer_can_be_stopped_and_wrong_json_is_told(visit: Visit) -> None:
    page = visit("/console/playground?model=sandbox/lorem%3Ftokens=500%26tps=10").page
    send(page, "go")
    expect(page.locator("#pane-a .answer > .said").last).not_to_be_empty()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#pane-a .problem")).to_contain_text("You stopped it.")
    page.get_by_text("Structured output").click()
    page.get_by_label("A JSON schema for the answer").fill("{")
    send(page, "more")
    expect(page.get_by_text("This is not valid JSON.")).to_be_visible()
    expect(page.locator(".user")).to_have_count(1)


def test_the_arrow_of_the_list_empties_the_field_so_that_every_model_shows(visit: Visit) -> None:
    page = visit("/console/playground").page
    model = page.get_by_label("Model", exact=True)
    before = model.input_value()
    box = model.bounding_box()
    assert box is not None
    model.click(position={"x": 20, "y": box["height"] / 2})
    expect(model).to_have_value(before)
    model.click(position={"x": box["width"] - 16, "y": box["height"] / 2})
    expect(model).to_have_value("")
    page.keyboard.press("Escape")
    page.get_by_label("Your message").click()
    expect(model).to_have_value(before)
