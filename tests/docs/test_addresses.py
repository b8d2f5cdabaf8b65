import pytest

from zurelay.docs.addresses import Address, find, is_ours


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/docs", Address("start", "nl")),
        ("/docs/", Address("start", "nl")),
        ("/docs/fr", Address("start", "fr")),
        ("/docs/fr/", Address("start", "fr")),
        ("/docs/streaming", Address("page", "nl", "streaming")),
        ("/docs/en/streaming", Address("page", "en", "streaming")),
        ("/docs/streaming.md", Address("markdown", "nl", "streaming")),
        ("/docs/fr/streaming.md", Address("markdown", "fr", "streaming")),
        ("/docs/fr.md", Address("index", "fr")),
        ("/llms.txt", Address("index", "en")),
        ("/docs/llms.txt", Address("index", "en")),
        ("/llms-full.txt", Address("full", "en")),
        ("/docs/search/fr.json", Address("search", "fr")),
    ],
)
def test_a_path_names_what_it_shows(path: str, expected: Address) -> None:
    assert is_ours(path)
    assert find(path, "nl") == expected


@pytest.mark.parametrize(
    "path",
    [
        "/docs/nothing",
        "/docs/de/streaming",
        "/docs/en/nl/streaming",
        "/docs/en/streaming/more",
        "/docs/streaming.html",
        "/docs/streaming.md.md",
        "/docs/../menu.py",
        "/docs/..",
        "/docs/en/../../menu",
        "/docs/en/%2e%2e/menu",
        "/docs/pages/en/streaming.md",
        "/docs/streaming\0",
        "/docs/Streaming",
        "/docs/search/de.json",
        "/docs/search/en.txt",
        "/docs/" + "x" * 1000,
        "/docs/.md",
        "/docs/en/.md/streaming",
    ],
)
def test_whatever_is_not_in_the_menu_is_not_there(path: str) -> None:
    assert find(path, "en") in (None, Address("index", "en"))
    assert path == "/docs/.md" or find(path, "en") is None


def test_a_reader_may_rather_have_markdown() -> None:
    assert find("/docs/streaming", "en", as_markdown=True) == Address("markdown", "en", "streaming")
    assert find("/docs", "en", as_markdown=True) == Address("index", "en")


def test_other_paths_are_others() -> None:
    for path in ("/", "/docsx", "/console", "/llms.txt/x", "/robots.txt"):
        assert not is_ours(path)
