"""The pages of the guide in every language: what translators and writers must keep to.

For one page: `pytest tests/docs/test_pages.py -k "nl and streaming"`.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from zurelay.console.languages import NAMES
from zurelay.docs import markdown
from zurelay.docs.menu import PAGES

FOLDER = Path(markdown.__file__).parent / "pages"
TRANSLATED = [code for code in NAMES if code != "en"]

every = pytest.mark.parametrize(
    ("code", "page"), [(code, page) for code in NAMES for page in PAGES]
)
translated = pytest.mark.parametrize(
    ("code", "page"), [(code, page) for code in TRANSLATED for page in PAGES]
)


@cache
def read(code: str, page: str) -> str:
    path = FOLDER / code / f"{page}.md"
    if not path.exists():
        pytest.skip(f"{code}/{page}.md is not there; the test of the menu says so")
    return path.read_text(encoding="utf-8")


@cache
def tokens(code: str, page: str) -> list[Token]:
    return markdown.parse(read(code, page))


def inside(found: Sequence[Token], kind: str) -> Iterator[Token]:
    """Tokens of a kind inside lines of text."""
    for token in found:
        yield from (child for child in token.children or () if child.type == kind)


def blocks(code: str, page: str) -> list[tuple[str, str]]:
    return [(one.info, one.content) for one in tokens(code, page) if one.type == "fence"]


def shape(code: str, page: str) -> list[str]:
    """What a page consists of, in order: headings, tables, lists, code, live parts."""
    found: list[str] = []
    for token in tokens(code, page):
        match token.type:
            case "heading_open":
                found.append(token.tag)
            case "fence":
                found.append(f"code: {token.info}")
            case "live":
                found.append(f"live: {token.content}")
            case "bullet_list_open" | "ordered_list_open" | "table_open":
                found.append(token.type.removesuffix("_open"))
            case "list_item_open":
                found.append("item")
            case "tr_open":
                found.append("row")
            case "th_open" | "td_open":
                found[-1] += " |"
            case _:
                pass
    return found


def links(code: str, page: str) -> list[str]:
    return [str(link.attrGet("href")) for link in inside(tokens(code, page), "link_open")]


def anchors(code: str, page: str) -> list[str]:
    return [heading.anchor for heading in markdown.outline(tokens(code, page))]


@pytest.mark.parametrize("code", NAMES)
def test_the_menu_has_every_page_and_no_other(code: str) -> None:
    there = {path.stem for path in (FOLDER / code).glob("*.md")}
    assert there - set(PAGES) == set(), "not in zurelay/docs/menu.py"
    assert set(PAGES) - there == set(), "not there yet"


@every
def test_a_page_begins_with_its_title_and_says_what_it_is(code: str, page: str) -> None:
    found = tokens(code, page)
    assert [token.tag for token in found if token.type == "heading_open"].count("h1") == 1
    title, description = markdown.opening(found)
    assert title
    assert 20 <= len(description) <= 500, description
    levels = [1, *(heading.level for heading in markdown.outline(found))]
    steps = [after - before for before, after in itertools.pairwise(levels)]
    assert max(steps, default=0) <= 1, "a heading skips a level"
    assert max(levels) <= 3


@every
def test_a_page_has_no_raw_html(code: str, page: str) -> None:
    strict = MarkdownIt("commonmark", {"html": True}).enable("table")
    found = strict.parse(read(code, page))
    raw = [token.content.strip() for token in found if token.type == "html_block"]
    raw += [token.content for token in inside(found, "html_inline")]
    assert [html for html in raw if not re.fullmatch(r"<!-- live: [a-z-]+ -->", html)] == []


@every
def test_every_link_leads_somewhere(code: str, page: str) -> None:
    broken = []
    for link in links(code, page):
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page if not path else path.removesuffix(".md")
        if path and (target not in PAGES or path != f"{target}.md"):
            broken.append(f"{link}: no such page")
        elif anchor and unquote(anchor) not in anchors(code, target):
            broken.append(f"{link}: it has {', '.join(anchors(code, target))}")
    assert broken == []


@translated
def test_code_is_the_same_in_every_language(code: str, page: str) -> None:
    assert blocks(code, page) == blocks("en", page)


@translated
def test_a_translation_has_the_shape_of_the_english_page(code: str, page: str) -> None:
    assert shape(code, page) == shape("en", page)


@translated
def test_a_translation_leads_to_the_same_pages(code: str, page: str) -> None:
    def targets(language: str) -> list[str]:
        return sorted(link.partition("#")[0] for link in links(language, page))

    assert targets(code) == targets("en")


@translated
def test_names_of_fields_and_values_are_not_translated(code: str, page: str) -> None:
    def names(language: str) -> set[str]:
        return {one.content for one in inside(tokens(language, page), "code_inline")}

    assert names(code) == names("en")


@translated
def test_numbers_are_the_same_however_they_are_written(code: str, page: str) -> None:
    """Each language has its own way of 10,000 and 2.5."""

    def numbers(language: str) -> set[str]:
        text = " ".join(one.content for one in inside(tokens(language, page), "text"))
        return {re.sub(r"\D", "", one) for one in re.findall(r"\d(?:[\d.,\u00a0\u202f]*\d)?", text)}

    assert numbers(code) == numbers("en")
