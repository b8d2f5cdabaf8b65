"""All that the guide shows for one set of facts: made when it is first asked for, then kept.

There is only so much: pages by languages by themes. Knows no request.
"""

import gzip
import hashlib
from dataclasses import dataclass
from typing import Final

import msgspec

from zurelay.docs import plain, rendering
from zurelay.docs.addresses import Address
from zurelay.docs.facts import Facts
from zurelay.docs.library import Library
from zurelay.docs.search import entries

HTML: Final = "text/html; charset=utf-8"
MARKDOWN: Final = "text/markdown; charset=utf-8"
TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """A body as it is sent, its entity tag without quotes, and the body for who takes gzip."""

    body: bytes
    gzipped: bytes
    media_type: str
    tag: str


class Edition:
    """The guide, as it is for these facts. Made in one thread, read in any."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.library = Library(facts)
        self._made: dict[tuple[Address, str], Answer] = {}

    def kept(self, address: Address, theme: str) -> Answer | None:
        """What was made before."""
        return self._made.get(_key(address, theme))

    def answer(self, address: Address, theme: str) -> Answer:
        """What an address shows."""
        found = self.kept(address, theme)
        if found is None:
            text, media_type = self._text(address, theme)
            found = self._made[_key(address, theme)] = _answer(text, media_type)
        return found

    def missing(self, code: str, path: str, theme: str) -> str:
        """A page for a path that leads nowhere; it is not kept."""
        return rendering.missing(self.library, code, path, theme)

    def _text(self, address: Address, theme: str) -> tuple[str, str]:
        library, code = self.library, address.code
        say = rendering.speaking(code)
        match address.kind:
            case "page":
                return rendering.page(library, code, address.page, theme), HTML
            case "start":
                return rendering.start(library, code, theme), HTML
            case "markdown":
                written = library.page(code, address.page)
                base_url, levels = self.facts.base_url, self.facts.levels
                return plain.as_markdown(written, base_url, say, levels), MARKDOWN
            case "index":
                return plain.llms_txt(library, say), TEXT
            case "full":
                return plain.llms_full_txt(library, say), TEXT
            case "search":
                return msgspec.json.encode(entries(library, code)).decode(), JSON


def _key(address: Address, theme: str) -> tuple[Address, str]:
    return address, theme if address.kind in ("page", "start") else ""


def _answer(text: str, media_type: str) -> Answer:
    body = text.encode()
    tag = hashlib.sha256(body).hexdigest()[:16]
    return Answer(body, gzip.compress(body, 6, mtime=0), media_type, tag)
