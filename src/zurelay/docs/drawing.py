"""A page's tokens as HTML: headings with anchors, samples with tabs, tables that can be scrolled.

All text is escaped; whatever is HTML here was made here. Words of the interface come as a language.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from zurelay.console.languages import Language
from zurelay.docs.code import OUTPUT, Block, Sample, coloured, samples
from zurelay.docs.markdown import plain

ROOT: Final = "/docs"
SHORT: Final = 14
"""Names in a line of text that are no longer than this stay in one piece."""
_JOINTS: Final = re.compile(r"(?<=[_/.?&=:(])(?=\w)")

Live = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page as HTML.

    Attributes:
        lead: the inside of the paragraph below the title.
        html: all that comes after it.
        keys: samples have places for a reader's key.
    """

    lead: str
    html: str
    keys: bool


def draw(tokens: Sequence[Token], language: Language, live: Mapping[str, Live]) -> Drawn:
    """A page as HTML.

    Args:
        tokens: all of them; the title is left out, since it stands in the page's head.
        language: words, and where links to other pages lead.
        live: what draws each live part.
    """
    drawer = _Drawer(MarkdownIt(), language, live)
    lead, body = _parts(tokens)
    html = drawer.render(_joined(body), _OPTIONS, {})
    return Drawn(drawer.render(lead, _OPTIONS, {}), html, "data-key=" in html)


def draw_sample(sample: Sample, language: Language, name: str) -> str:
    """One sample alone. `name` tells its tabs from those of others on the page."""
    return "".join(_sample(sample, language, name))


_OPTIONS: Final = OptionsDict(
    {
        "maxNesting": 20,
        "html": False,
        "linkify": False,
        "typographer": False,
        "quotes": "",
        "xhtmlOut": False,
        "breaks": False,
        "langPrefix": "",
        "highlight": None,
    }
)


def _parts(tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """The inside of the paragraph below the title, and what comes after it."""
    at = 3 if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1" else 0
    if at and len(tokens) > at and tokens[at].type == "paragraph_open":
        return [tokens[at + 1]], tokens[at + 3 :]
    return [], tokens[at:]


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """Fences that stand directly after each other become tokens of type `sample`."""
    found: list[Token] = []
    run: list[Token] = []

    def end() -> None:
        for sample in samples([(one.info.strip(), one.content) for one in run]):
            token = Token("sample", "", 0)
            token.meta = {"sample": sample}
            found.append(token)
        run.clear()

    for token in tokens:
        if token.type == "fence":
            run.append(token)
        else:
            end()
            found.append(token)
    end()
    return found


class _Drawer(RendererHTML):
    """markdown-it's renderer, with our own ways for some tokens: its methods are their names."""

    def __init__(self, parser: MarkdownIt, language: Language, live: Mapping[str, Live]) -> None:
        super().__init__(parser)
        self._language = language
        self._live = live
        self._numbers = count(1)

    def heading_close(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any
    ) -> str:
        """Ends with a link to itself."""
        anchor = escape(str(tokens[idx - 2].attrGet("id")))
        label = escape(self._language.gettext("Link to this section"))
        link = f'<a class="anchor" href="#{anchor}" aria-label="{label}">#</a>'
        return f"{link}</{tokens[idx].tag}>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any) -> str:
        """Leads to the page in this language."""
        href = page_link(str(tokens[idx].attrGet("href")), self._language.code)
        away = "" if href.startswith(("/", "#")) else ' rel="noreferrer"'
        return f'<a href="{escape(href)}"{away}>'

    def code_inline(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any
    ) -> str:
        """Long names may be broken at their joints, so that tables need less room."""
        name = tokens[idx].content
        pieces = _JOINTS.split(name) if len(name) > SHORT else [name]
        return f"<code>{'<wbr>'.join(escape(piece, quote=False) for piece in pieces)}</code>"

    def td_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any) -> str:
        """Says its column, for where there is no room for columns."""
        label = tokens[idx].meta.get("label", "")
        shown = f' data-label="{escape(label)}"' if label else ""
        return f"<td{shown}>"

    def table_open(
        self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any
    ) -> str:
        """In a frame that can be scrolled, by keyboard too."""
        label = escape(self._language.gettext("Table"))
        columns = len(_name_columns(tokens, idx))
        kind = "narrow" if columns < 3 else "wide" if columns < 4 else "wide dense"
        return (
            f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
            f'<table class="{kind}">\n'
        )

    def table_close(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: Any
    ) -> str:
        """Ends the frame too."""
        return "</table></div>\n"

    def blockquote_open(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: Any
    ) -> str:
        """Is a remark."""
        return '<div class="note info"><div>\n'

    def blockquote_close(
        self, _tokens: Sequence[Token], _idx: int, _options: OptionsDict, _env: Any
    ) -> str:
        """Ends it."""
        return "</div></div>\n"

    def sample(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any) -> str:
        """Code, with tabs where there are several languages."""
        sample = tokens[idx].meta["sample"]
        return "".join(_sample(sample, self._language, f"t{next(self._numbers)}"))

    def live(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: Any) -> str:
        """What the gateway says itself; nothing for a part nobody draws."""
        drawn = self._live.get(tokens[idx].content)
        return "" if drawn is None else drawn()


def page_link(href: str, code: str) -> str:
    """Where a link of a page leads on the site: `streaming.md#x` to that page in this language."""
    path, hash_, anchor = href.partition("#")
    if ":" in path or "/" in path or not path.endswith(".md"):
        return href
    return f"{ROOT}/{code}/{path.removesuffix('.md')}{hash_}{anchor}"


def _name_columns(tokens: Sequence[Token], idx: int) -> list[str]:
    """The heads of the table that begins there; each of its cells is told the head above it."""
    heads: list[str] = []
    column = 0
    for place in range(idx, len(tokens)):
        match tokens[place].type:
            case "th_open":
                heads.append(plain(tokens[place + 1]))
            case "tr_open":
                column = 0
            case "td_open":
                tokens[place].meta["label"] = heads[column]
                column += 1
            case "table_close":
                break
            case _:
                pass
    return heads


def _sample(sample: Sample, language: Language, name: str) -> Iterator[str]:
    alone = len(sample.blocks) == 1
    label = escape(language.gettext("Example"))
    kind = "sample" if alone else "sample tabbed"
    yield f'<div class="{kind}" role="group" aria-label="{label}">'
    for place, block in enumerate(sample.blocks):
        output = block.language == OUTPUT
        title = escape(language.gettext("Output") if output else block.label)
        if alone:
            yield f'<p class="sample-name">{title}</p>' if title else ""
            yield '<div class="pane">'
        else:
            chosen = " checked" if place == 0 else ""
            tab = escape(block.tab)
            yield f'<input type="radio" name="{name}" id="{name}-{tab}" value="{tab}"{chosen}>'
            yield f'<label for="{name}-{tab}">{title}</label>'
            yield '<div class="pane">'
        yield from _block(block, language)
        yield "</div>"
    yield "</div>\n"


def _block(block: Block, language: Language) -> Iterator[str]:
    yield f'<pre tabindex="0"><code>{coloured(block.language, block.text)}</code></pre>'
    copy, done = escape(language.gettext("Copy")), escape(language.gettext("Copied"))
    yield (
        f'<button type="button" class="copy" data-copy data-done="{done}">'
        f"<span>{copy}</span></button>"
    )
    if block.output is not None:
        output = escape(language.gettext("Output"))
        text = escape(block.output.rstrip("\n"), quote=False)
        yield (
            f'<div class="output"><p>{output}</p><pre tabindex="0"><samp>{text}</samp></pre></div>'
        )
