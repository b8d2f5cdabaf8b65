"""Code in pages: coloured, with the places of the reader's key, and what belongs together.

Blocks that follow each other directly and say the same in several languages are one sample with
tabs; a block of output belongs to what prints it. Knows no page and no language of people.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from typing import Final

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

OUTPUT: Final = "output"
"""In a block's info string: this is what the block before prints."""

_NAMES: Final = {
    "python": "Python",
    "js": "Node.js",
    "javascript": "Node.js",
    "ts": "TypeScript",
    "json": "JSON",
    "toml": "TOML",
    "yaml": "YAML",
    "http": "HTTP",
    "go": "Go",
    "ini": "INI",
    "text": "",
}
_SHELL: Final = ("bash", "sh", "shell", "console")
_SDK: Final = ("python", "js")
"""The same example in these prints the same."""

_EXPRESSIONS: Final = ("os.environ", "process.env")
"""In whose place the key stands with quotes."""
_KEY: Final = re.compile(
    r'os\.environ\["ZURELAY_API_KEY"\]|process\.env\.ZURELAY_API_KEY'
    r"|\$\{ZURELAY_API_KEY\}|\$ZURELAY_API_KEY\b|\bzk-\.\.\."
)
_UNCOLOURED: Final = re.compile(r'<span class="c-(?:w|n|nx|p|o|nn|pl)">([^<]*)</span>')
"""Names and signs look like all other text: their marks would be a third of a page."""
_MARK: Final = "ZzKeyOfReader{}zZ"
_MARKED: Final = re.compile(r"ZzKeyOfReader(\d+)zZ")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text, and what it prints, if that is told."""

    language: str
    text: str
    output: str | None = None

    @property
    def label(self) -> str:
        """What its tab says."""
        if self.language in _SHELL:
            return "curl" if re.search(r"^\s*curl\b", self.text, re.MULTILINE) else "Shell"
        return _NAMES.get(self.language, self.language)

    @property
    def tab(self) -> str:
        """What stands for its language where a reader's choice is kept."""
        return "shell" if self.language in _SHELL else self.language


@dataclass(frozen=True, slots=True)
class Sample:
    """Blocks that say the same; one is shown at a time."""

    blocks: tuple[Block, ...] = field(default=())


def samples(fences: Sequence[tuple[str, str]]) -> Iterator[Sample]:
    """Fenced blocks that stand directly after each other, as (info string, text).

    A block of a language that the sample has already, or of one that is no program's, begins the
    next sample. Output belongs to the block before it, and to the same example in the SDKs; with
    words between them it stands alone, as a block whose language is `OUTPUT`.
    """
    current: list[Block] = []
    for info, text in fences:
        language, _, rest = info.partition(" ")
        told = rest.strip() == OUTPUT
        if told and current:
            _tell(current, text)
            continue
        block = Block(OUTPUT if told else language, text)
        if current and not _same_example(current, block):
            yield Sample(tuple(current))
            current = []
        current.append(block)
    if current:
        yield Sample(tuple(current))


def _tell(blocks: list[Block], output: str) -> None:
    last = len(blocks) - 1
    for place, block in enumerate(blocks):
        if place == last or (block.language in _SDK and blocks[last].language in _SDK):
            blocks[place] = replace(block, output=output)


def _same_example(blocks: Sequence[Block], block: Block) -> bool:
    programs = (*_SHELL, "python", "js", "ts", "go")
    if block.language not in programs or blocks[0].language not in programs:
        return False
    if any(one.output is not None for one in blocks if one.language in _SDK):
        return False
    return all(one.tab != block.tab for one in blocks)


def coloured(language: str, text: str) -> str:
    """HTML of a block's inside. Places of the key are `<span data-key>` with what is written."""
    written: list[tuple[str, bool]] = []

    def marked(found: re.Match[str]) -> str:
        written.append((found[0], found[0].startswith(_EXPRESSIONS)))
        return _MARK.format(len(written) - 1)

    text = _KEY.sub(marked, text)
    lexer = _lexer(language)
    html = escape(text, quote=False) if lexer is None else highlight(text, lexer, _formatter())
    html = _UNCOLOURED.sub(r"\1", html).rstrip("\n")
    return _MARKED.sub(lambda found: _key(*written[int(found[1])]), html)


def _key(expression: str, quoted: bool) -> str:
    kind = "quoted" if quoted else "bare"
    return f'<span class="slot" data-key="{kind}">{escape(expression, quote=False)}</span>'


@cache
def _lexer(language: str) -> Lexer | None:
    if language in ("", "text", OUTPUT):
        return None
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None


@cache
def _formatter() -> "HtmlFormatter[str]":
    return HtmlFormatter(nowrap=True, classprefix="c-")
