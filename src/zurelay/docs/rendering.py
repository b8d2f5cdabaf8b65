"""Templates of the guide become HTML, with the console's icons and words.

Everything is escaped but for what `drawing` made. Knows no request.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from zurelay.chat.nearest import nearest
from zurelay.console import rendering as console
from zurelay.console import snippets
from zurelay.console.languages import Language, language
from zurelay.docs import assets
from zurelay.docs.code import Block, Sample
from zurelay.docs.drawing import ROOT, draw, draw_sample
from zurelay.docs.levels import by_vendor, vendor_title
from zurelay.docs.library import Library, exists
from zurelay.docs.menu import PAGES, SECTIONS, beside
from zurelay.docs.plain import off_words, summary

FOLDER: Final = Path(__file__).parent / "templates"
WORDS: Final = Path(__file__).parent / "locale"
_TABS: Final = {"curl": "bash", "Python": "python", "Node": "js"}


def speaking(code: str) -> Language:
    """A language with the words of console and guide."""
    return language(code, WORDS)


@cache
def environment() -> Environment:
    """The templates: the site's first, then the console's."""
    made = console.templates(FOLDER, console.FOLDER)
    made.globals.update(asset=assets.url, root=ROOT)
    return made


def page(library: Library, code: str, name: str, theme: str) -> str:
    """A page of the guide.

    Raises:
        KeyError: no such page.
    """
    say, written = speaking(code), library.page(code, name)
    drawn = draw(written.tokens, speaking(code), {"levels": lambda: _levels(library, say)})
    before, after = (library.page(code, one) if one else None for one in beside(name))
    section = next(section for section in SECTIONS if name in section.pages)
    return _render(
        "guide_page.html",
        library,
        say,
        theme,
        name,
        page=written,
        section=section.label,
        lead=Markup(drawn.lead),  # noqa: S704 - drawn from our own pages, escaped there
        body=Markup(drawn.html),  # noqa: S704 - likewise
        keys=drawn.keys,
        before=before,
        after=after,
    )


def start(library: Library, code: str, theme: str) -> str:
    """Where a reader begins."""
    say, facts = speaking(code), library.facts
    samples = snippets.samples(facts.base_url, facts.example_model)
    blocks = tuple(Block(_TABS[label], text) for label, text in samples if label in _TABS)
    return _render(
        "guide_start.html",
        library,
        say,
        theme,
        "",
        summary=summary(say),
        first=Markup(draw_sample(Sample(blocks), say, "first")),  # noqa: S704 - likewise
    )


def missing(library: Library, code: str, path: str, theme: str) -> str:
    """There is no such page; perhaps another one was meant."""
    wanted = path.rstrip("/").rpartition("/")[2].partition(".")[0][:50]
    near = nearest(wanted, [name for name in PAGES if exists(name)])
    meant = library.page(code, near) if near else None
    return _render("guide_missing.html", library, speaking(code), theme, "", meant=meant)


def front(library: Library, code: str, theme: str, status: Mapping[str, object]) -> str:
    """The page at `/`: what runs here, and where to go."""
    return _render("front.html", library, speaking(code), theme, "", **status)


def _render(
    template: str, library: Library, say: Language, theme: str, here: str, **values: object
) -> str:
    facts = library.facts
    around: dict[str, Any] = {
        **console.texts(say),
        "say": say,
        "lang": say.code,
        "theme": theme,
        "brand": facts.brand,
        "base_url": facts.base_url,
        "local": "" if facts.is_public else facts.base_url,
        "here": here,
        "menu": [
            (section.label, [library.page(say.code, one) for one in section.pages if exists(one)])
            for section in SECTIONS
        ],
    }
    return environment().get_template(template).render({**around, **values})


def _levels(library: Library, say: Language) -> str:
    rows = library.facts.levels
    texts: Mapping[str, Callable[..., Markup]] = console.texts(say)
    groups = [(vendor_title(vendor), of) for vendor, of in by_vendor(rows).items()]
    template = environment().get_template("guide_levels.html")
    return template.render(
        **texts, say=say, groups=groups, total=len(rows), off=lambda row: off_words(row, say)
    )
