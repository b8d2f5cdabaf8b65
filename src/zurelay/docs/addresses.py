"""Which part of the guide a path asks for. Knows names of pages and languages, and no file."""

from dataclasses import dataclass
from typing import Final, Literal

from zurelay.console.languages import NAMES
from zurelay.docs.drawing import ROOT
from zurelay.docs.library import exists

Kind = Literal["start", "page", "markdown", "index", "full", "search"]

INDEXES: Final = {"/llms.txt": "index", f"{ROOT}/llms.txt": "index", "/llms-full.txt": "full"}
LONGEST: Final = 200
ANY: Final = "en"
"""The language of what has one language only."""


@dataclass(frozen=True, slots=True)
class Address:
    """One thing that can be shown.

    Attributes:
        kind: what it is; `index` is llms.txt, `full` is llms-full.txt.
        code: its language.
        page: its name; empty for what is no page.
    """

    kind: Kind
    code: str
    page: str = ""


def is_ours(path: str) -> bool:
    """Whether a path belongs to the guide."""
    return path == ROOT or path.startswith(f"{ROOT}/") or path in INDEXES


def find(path: str, code: str, *, as_markdown: bool = False) -> Address | None:
    """What a path asks for; None for nothing that is here.

    Args:
        path: of the URL, decoded.
        code: the reader's language, for paths that name none.
        as_markdown: whether the reader would rather have Markdown than HTML.
    """
    if path in INDEXES:
        return Address("full" if INDEXES[path] == "full" else "index", ANY)
    if len(path) > LONGEST:
        return None
    names = path.removeprefix(ROOT).strip("/").split("/")
    if names[0] == "search" and len(names) == 2:
        language, dot, kind = names[1].partition(".")
        return Address("search", language) if language in NAMES and dot + kind == ".json" else None
    last, dot, kind = names[-1].partition(".")
    if dot and kind != "md":
        return None
    markdown = bool(dot) or as_markdown
    names = [name for name in (*names[:-1], last) if name]
    if names and names[0] in NAMES:
        code, *names = names
    match names:
        case []:
            return Address("index" if markdown else "start", code)
        case [page] if exists(page):
            return Address("markdown" if markdown else "page", code, page)
        case _:
            return None
