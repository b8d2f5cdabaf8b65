"""What the site's search looks through: the text of each part of each page, without its code.

Knows no HTML; the searching itself is done in the browser.
"""

from collections.abc import Iterator

from zurelay.docs.library import Library, Written
from zurelay.docs.markdown import plain

Entry = tuple[str, str, str, str]
"""Page, anchor, heading, text; the first entry of a page has its title and no anchor."""


def entries(library: Library, code: str) -> list[Entry]:
    """Every part of every page of a language, in the order of the menu."""
    return [entry for page in library.pages(code) for entry in _parts(page)]


def _parts(page: Written) -> Iterator[Entry]:
    anchor, heading = "", page.title
    said: list[str] = []
    tokens = iter(page.tokens)
    for token in tokens:
        if token.type == "heading_open":
            inline = next(tokens)
            if token.tag != "h1":
                yield page.name, anchor, heading, " ".join(said)
                anchor, heading, said = str(token.attrGet("id")), plain(inline), []
        elif token.type == "inline":
            said.append(plain(token))
    yield page.name, anchor, heading, " ".join(said)
