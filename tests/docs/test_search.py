from tests.docs.test_library import FACTS
from zurelay.docs.library import Library
from zurelay.docs.menu import PAGES
from zurelay.docs.search import entries


def test_each_part_of_each_page_is_an_entry_with_its_heading() -> None:
    library = Library(FACTS)
    for code in ("en", "nl", "fr"):
        found = entries(library, code)
        assert list(dict.fromkeys(page for page, _, _, _ in found)) == list(PAGES)
        for name in PAGES:
            page = library.page(code, name)
            mine = [entry for entry in found if entry[0] == name]
            assert mine[0][1:3] == ("", page.title)
            assert page.description in mine[0][3]
            assert [entry[1] for entry in mine[1:]] == [one.anchor for one in page.headings]


def test_words_are_there_without_marks_and_code_blocks_are_not() -> None:
    found = entries(Library(FACTS), "en")
    text = " ".join(entry[3] for entry in found)
    assert "reasoning_effort" in text
    assert "**" not in text
    assert "import os" not in text
