from pathlib import Path

import pytest

from zurelay.docs import library
from zurelay.docs.facts import Facts
from zurelay.docs.library import Library, exists, written_pages
from zurelay.docs.menu import PAGES

FACTS = Facts("Brand", "zurelay", "https://ai.example.com", "sandbox/echo", ())


def test_every_page_can_be_had_in_every_language() -> None:
    found = Library(FACTS)
    for code in ("en", "nl", "fr"):
        pages = found.pages(code)
        assert [page.name for page in pages] == [name for name in PAGES if exists(name)]
        assert all(page.title and page.teaser and page.code == code for page in pages)
    page = found.page("en", "chat-completions")
    assert "https://ai.example.com/v1" in page.text
    assert "127.0.0.1:8000" not in page.text
    assert page is found.page("en", "chat-completions")


def test_a_page_that_is_not_translated_is_the_english_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for code, text in (("en", "# Streaming\n\nOne. Two."), ("nl", "# Stromen\n\nEen")):
        (tmp_path / code).mkdir()
        (tmp_path / code / "streaming.md").write_text(text)
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    written_pages.cache_clear()
    found = Library(FACTS)
    pages = [found.page(code, "streaming") for code in ("en", "nl", "fr")]
    assert [(page.written_in, page.title, page.teaser) for page in pages] == [
        ("en", "Streaming", "One."),
        ("nl", "Stromen", "Een"),
        ("en", "Streaming", "One."),
    ]
    assert [page.name for page in found.pages("nl")] == ["streaming"]
    written_pages.cache_clear()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("en", "nothing"),
        ("en", "../menu"),
        ("en", ""),
        ("de", "streaming"),
        ("../en", "streaming"),
        ("en", "streaming.md"),
    ],
)
def test_nothing_else_is_looked_up(code: str, name: str) -> None:
    with pytest.raises(KeyError):
        Library(FACTS).page(code, name)


def test_names_that_readers_make_up_are_not_remembered() -> None:
    before = written_pages.cache_info().currsize
    assert not any(exists(f"made-up-{n}") for n in range(100))
    assert written_pages.cache_info().currsize <= max(before, 1)
    assert not hasattr(exists, "cache_info")
