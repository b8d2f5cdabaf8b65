import re

from tests.docs.test_library import FACTS
from zurelay.docs.facts import Facts
from zurelay.docs.levels import Levels
from zurelay.docs.library import Library
from zurelay.docs.menu import PAGES
from zurelay.docs.plain import as_markdown, levels_table, llms_full_txt, llms_txt
from zurelay.docs.rendering import speaking

ROW = Levels("one", ("openai",), ("low", "high"), "high", "low", "low high*")
PLAIN = Levels("plain", ("acme",), (), None, "off", "")
EN, NL = speaking("en"), speaking("nl")


def test_links_are_absolute_and_code_blocks_say_their_language_alone() -> None:
    for code in ("en", "nl", "fr"):
        for page in Library(FACTS).pages(code):
            text = as_markdown(page, FACTS.base_url, speaking(code), [ROW])
            assert text.startswith(f"# {page.title}\n") or "`" in text.split("\n")[0]
            assert re.findall(r"^```\S+ .*$", text, re.MULTILINE) == []
            assert "<!-- live" not in text
            outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
            for link in re.findall(r"\]\(([^)]*)\)", outside):
                assert link.startswith(("https://", "http://", "#", "/")), (page.name, link)


def test_code_is_left_as_it_is() -> None:
    page = Library(FACTS).page("en", "quickstart")
    text = as_markdown(page, FACTS.base_url, EN, [])
    blocks = [token.content for token in page.tokens if token.type == "fence"]
    assert all(block in text for block in blocks)


def test_the_levels_of_models_stand_in_the_page_about_them() -> None:
    text = as_markdown(Library(FACTS).page("nl", "reasoning"), FACTS.base_url, NL, [ROW, PLAIN])
    assert "| `one` | OpenAI | low high\\* | low |" in text
    assert "| `plain` | acme | denkt niet na | uit |" in text


def test_the_table_of_levels_is_markdown() -> None:
    assert list(levels_table([ROW], EN)) == [
        "| Model | Vendor | Levels (\\* the default) | `none` becomes |",
        "|---|---|---|---|",
        "| `one` | OpenAI | low high\\* | low |",
    ]


def test_llms_txt_has_a_line_for_every_page() -> None:
    text = llms_txt(Library(FACTS), EN)
    assert text.startswith("# Brand\n\n> One base URL")
    assert "Base URL: https://ai.example.com/v1" in text
    lines = re.findall(r"^- \[(.+)\]\((.+)\): (.+)$", text, re.MULTILINE)
    assert [url for _, url, _ in lines] == [
        f"https://ai.example.com/docs/en/{page}.md" for page in PAGES
    ]
    assert text.count("\n## ") == 4
    assert "/docs/nl/streaming.md" in llms_txt(Library(FACTS), NL)


def test_the_full_text_has_every_page() -> None:
    library = Library(Facts("Brand", "zurelay", "https://x.example", "m", (ROW,)))
    text = llms_full_txt(library, EN)
    for page in library.pages("en"):
        assert f"# {page.title}\n" in text
    assert "`one`" in text
