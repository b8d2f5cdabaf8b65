"""The guide's pages, read from the package and filled in with a gateway's facts.

A page that is not there in a language is the English one. Only names of the menu are ever looked
up, so no path comes from a reader. Knows no HTML.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from markdown_it.token import Token

from zurelay.console.languages import NAMES
from zurelay.docs.facts import Facts
from zurelay.docs.markdown import Heading, opening, outline, parse
from zurelay.docs.menu import PAGES

FOLDER: Final = Path(__file__).parent / "pages"
ORIGINAL: Final = "en"


@dataclass(frozen=True, slots=True)
class Written:
    """A page in one language.

    Attributes:
        name: as in the menu.
        code: the language it was asked in.
        written_in: the language it is in.
        text: its Markdown, filled in.
        title, description: plain text.
        headings: below the title.
    """

    name: str
    code: str
    written_in: str
    text: str
    tokens: Sequence[Token]
    title: str
    description: str
    headings: tuple[Heading, ...]

    @property
    def teaser(self) -> str:
        """The first sentence of the description."""
        first, stop, _ = self.description.partition(". ")
        return first + (stop.strip() or "")


class Library:
    """Every page in every language, each read when it is first asked for."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._read: dict[tuple[str, str], Written] = {}

    def page(self, code: str, name: str) -> Written:
        """A page of the menu.

        Raises:
            KeyError: no such page or language.
        """
        found = self._read.get((code, name))
        if found is None:
            found = self._read[code, name] = self._written(code, name)
        return found

    def pages(self, code: str) -> list[Written]:
        """All of them, in the order of the menu."""
        return [self.page(code, name) for name in PAGES if exists(name)]

    def _written(self, code: str, name: str) -> Written:
        if code not in NAMES or not exists(name):
            raise KeyError(name)
        written_in, text = _source(code, name)
        text = self.facts.filled(text)
        tokens = parse(text)
        title, description = opening(tokens)
        headings = tuple(outline(tokens))
        return Written(name, code, written_in, text, tokens, title, description, headings)


def exists(name: str) -> bool:
    """Whether there is such a page."""
    return name in written_pages()


@cache
def written_pages() -> frozenset[str]:
    """The names for which there is one; not kept by name, as readers may ask for any."""
    return frozenset(name for name in PAGES if (FOLDER / ORIGINAL / f"{name}.md").is_file())


def _source(code: str, name: str) -> tuple[str, str]:
    """The language of a page's file, and its text."""
    for language in (code, ORIGINAL):
        path = FOLDER / language / f"{name}.md"
        if path.is_file():
            return language, path.read_text(encoding="utf-8")
    raise KeyError(name)
