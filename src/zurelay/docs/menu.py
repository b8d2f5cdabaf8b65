"""The guide's table of contents: which pages there are, in which order, under which headings.

A page's title stands in the page itself. Knows no text but the sections' names.
"""

from dataclasses import dataclass
from typing import Final

from zurelay.console.languages import N_


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the menu: its English name, and its pages' file names without `.md`."""

    label: str
    pages: tuple[str, ...]


SECTIONS: Final = (
    Section(N_("Get started"), ("quickstart", "sdks")),
    Section(N_("Endpoints"), ("chat-completions", "messages", "responses", "embeddings")),
    Section(
        N_("What models can do"),
        (
            "streaming",
            "tool-calling",
            "structured-output",
            "reasoning",
            "vision-and-files",
            "prompt-caching",
        ),
    ),
    Section(
        N_("In production"),
        (
            "smart-routing",
            "errors",
            "reliability",
            "idempotency",
            "limits",
            "billing",
            "sandbox",
        ),
    ),
)

PAGES: Final = tuple(page for section in SECTIONS for page in section.pages)
"""Every page, in the order in which they are read."""


def beside(page: str) -> tuple[str | None, str | None]:
    """The pages before and after one."""
    place = PAGES.index(page)
    before = PAGES[place - 1] if place else None
    after = PAGES[place + 1] if place + 1 < len(PAGES) else None
    return before, after
