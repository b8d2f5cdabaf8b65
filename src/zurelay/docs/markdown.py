"""The guide's Markdown as tokens: headings with their anchors, and the places of live parts.

CommonMark with tables and without raw HTML. Knows no page and draws nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

_LIVE = re.compile(r"<!-- live: ([a-z-]+) -->\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title. `level` is 2 for the largest."""

    level: int
    text: str
    anchor: str


def parse(text: str) -> list[Token]:
    """The tokens of a page; each heading has its anchor as `id`.

    A line `<!-- live: NAME -->` is a token of type `live` with the name as its content.
    """
    tokens = _parser().parse(text)
    taken: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _unique(anchor(plain(tokens[place + 1])), taken))
    return tokens


def outline(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Headings below the title, in order."""
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag != "h1":
            level = int(token.tag[1:])
            yield Heading(level, plain(tokens[place + 1]), str(token.attrGet("id")))


def opening(tokens: Sequence[Token]) -> tuple[str, str]:
    """The title, and the paragraph below it as plain text. Empty where they are missing."""
    title = description = ""
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and not title and token.tag == "h1":
            title = plain(tokens[place + 1])
        elif token.type == "paragraph_open" and title:
            description = plain(tokens[place + 1])
            break
        elif token.type != "heading_close" and title and token.type != "inline":
            break
    return title, description


def anchor(heading: str) -> str:
    """What a link to a heading says after `#`: as code hosts make it, so that both agree."""
    kept = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s", "-", kept)


def plain(inline: Token) -> str:
    """The words of an inline token, without their marks."""
    said = []
    for child in inline.children or ():
        if child.type in ("text", "code_inline"):
            said.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            said.append(" ")
        elif child.type == "image":
            said.append(child.content)
    return "".join(said)


def _unique(name: str, taken: dict[str, int]) -> str:
    count = taken.get(name, 0)
    taken[name] = count + 1
    return f"{name}-{count}" if count else name


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.block.ruler.before("html_block", "live", _live, {"alt": ["paragraph"]})
    return made


def _live(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """The block rule for a live part's line."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    found = _LIVE.fullmatch(line)
    if found is None:
        return False
    if not silent:
        state.line = start + 1
        token = state.push("live", "", 0)
        token.content = found[1]
        token.map = [start, start + 1]
    return True
