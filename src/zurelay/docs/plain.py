"""The guide for programs: pages as Markdown with absolute links, and `llms.txt`.

See llmstxt.org for the form of the latter. Knows no HTML.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from zurelay.console.languages import Language
from zurelay.docs.drawing import ROOT
from zurelay.docs.levels import Levels, vendor_title
from zurelay.docs.library import Library, Written, exists
from zurelay.docs.menu import SECTIONS

_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})\s*(\S*)")
_LINK: Final = re.compile(r"\]\(([a-z0-9-]+)\.md(#[^)]*)?\)")
_LIVE: Final = re.compile(r"<!-- live: ([a-z-]+) -->\s*")


def as_markdown(page: Written, base_url: str, language: Language, rows: Iterable[Levels]) -> str:
    """A page's Markdown: links are absolute, live parts filled in, test marks of code left out."""
    parts: dict[str, Callable[[], str]] = {
        "levels": lambda: "\n".join(levels_table(rows, language))
    }
    return "\n".join(_lines(page, f"{base_url}{ROOT}/{page.code}", parts)) + "\n"


def _lines(page: Written, address: str, parts: dict[str, Callable[[], str]]) -> Iterator[str]:
    fence = ""
    for line in page.text.rstrip("\n").split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found is not None and found[1].startswith(fence) and not found[2]:
                fence = ""
            yield line
        elif found is not None:
            fence = found[1]
            yield f"{line[: found.start(1)]}{found[1]}{found[2]}"
        elif (live := _LIVE.fullmatch(line)) is not None:
            part = parts.get(live[1])
            yield "" if part is None else part()
        else:
            yield _LINK.sub(lambda link: f"]({address}/{link[1]}.md{link[2] or ''})", line)


def levels_table(rows: Iterable[Levels], language: Language) -> Iterator[str]:
    """The levels of models as a Markdown table, in a language."""
    heads = (
        language.gettext("Model"),
        language.gettext("Vendor"),
        language.gettext("Levels (* the default)").replace("*", "\\*"),
        language.gettext("none becomes").replace("none", "`none`"),
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---|---|---|---|"
    for row in rows:
        vendors = ", ".join(vendor_title(vendor) for vendor in row.vendors)
        text = row.text.replace("*", "\\*") if row.levels else language.gettext("does not think")
        yield f"| `{row.model}` | {vendors} | {text} | {off_words(row, language)} |"


def off_words(row: Levels, language: Language) -> str:
    """What `none` becomes: a level's own name, or a word for off."""
    return language.gettext("off") if row.off == "off" else row.off


def llms_txt(library: Library, language: Language) -> str:
    """An index of the guide: a line a page, with the address of its Markdown."""
    facts, code = library.facts, language.code
    lines = [
        f"# {facts.brand}",
        "",
        f"> {summary(language)}",
        "",
        language.gettext("Base URL: %(url)s") % {"url": f"{facts.base_url}/v1"},
        "",
    ]
    for section in SECTIONS:
        pages = [library.page(code, name) for name in section.pages if exists(name)]
        lines += [f"## {language.gettext(section.label)}", ""]
        lines += [
            f"- [{page.title}]({facts.base_url}{ROOT}/{code}/{page.name}.md): {page.teaser}"
            for page in pages
        ]
        lines.append("")
    return "\n".join(lines)


def llms_full_txt(library: Library, language: Language) -> str:
    """Every page, one after the other."""
    facts = library.facts
    pages = (
        as_markdown(page, facts.base_url, language, facts.levels)
        for page in library.pages(language.code)
    )
    return f"# {facts.brand}\n\n> {summary(language)}\n\n---\n\n" + "\n---\n\n".join(pages)


def summary(language: Language) -> str:
    """What all of this is about."""
    return language.gettext(
        "One base URL and one key for every language model, in the formats of OpenAI and Anthropic."
    )
