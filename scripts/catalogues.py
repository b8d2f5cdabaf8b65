"""Brings a page module's catalogues up to date with its texts: `scripts/catalogues.py keys`.

Texts of `console/keys.py` and `console/templates/keys*.html` that have no translation yet are added
to `locale/<language>/keys.po` with an empty one; entries that nothing uses any more go. The name
`docs` stands for all of the guide's site, which may use the console's words too. Without a name it
does so for every module, and says what lacks a translation. French is written with its unbreakable
spaces and its apostrophe, however it was typed.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

CONSOLE = Path(__file__).resolve().parent.parent / "src" / "zurelay" / "console"
DOCS = CONSOLE.parent / "docs"
LANGUAGES = ("nl", "fr")
KEYWORDS = {"_": None, "N_": None, "gettext": None, "ngettext": (1, 2)}
SHARED = "shared"
"""Texts of templates and modules that are no page's own."""
SITE = "docs"
"""The guide's site: one catalogue, in a folder of its own."""

Text = str | tuple[str, ...]
_TIED = re.compile(r" (?=[:;!?»%])(?!%\()|(?<=«) |(?<=\d) (?=\d{3})")
"""Spaces of French where no line may break."""


def page_modules() -> list[str]:
    """Names of modules that have pages."""
    return sorted(
        path.stem
        for path in CONSOLE.glob("*.py")
        if "\nPAGES = " in path.read_text(encoding="utf-8")
    )


def module_of(path: Path, modules: list[str]) -> str:
    """Whose text a file holds: a template belongs to the longest module name it begins with."""
    found = [one for one in modules if path.stem == one or path.stem.startswith(f"{one}_")]
    return max(found, key=len, default=SHARED)


def texts(root: Path | None = None) -> Iterator[tuple[Path, int, Text]]:
    """Every text in source and templates: file, line, text or (one, many).

    Args:
        root: the package; the console's unless told otherwise.
    """
    root = root or CONSOLE
    options = {"newstyle_gettext": "true", "trimmed": "true", "silent": "false"}
    for path in sorted(root.glob("*.py")):
        for line, text, _, _ in extract_from_file("python", path, KEYWORDS):
            yield path, line, text
    for path in sorted(root.glob("templates/*.html")):
        found = extract_from_file("jinja2.ext:babel_extract", path, KEYWORDS, options=options)
        for line, text, _, _ in found:
            yield path, line, text


def file_of(language: str, module: str) -> Path:
    """Where a module's catalogue lies."""
    root = DOCS if module == SITE else CONSOLE
    return root / "locale" / language / f"{module}.po"


def read(language: str, module: str) -> Catalog:
    """A module's catalogue; empty where there is none."""
    path = file_of(language, module)
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def catalogues(*modules: str) -> dict[str, dict[Text, object]]:
    """Every translation there is, by language and text: the console's, and those of `modules`."""
    found: dict[str, dict[Text, object]] = {}
    for language in LANGUAGES:
        found[language] = {}
        for module in (*_consoles(language), *modules):
            for message in read(language, module):
                if message.id:
                    found[language][as_text(message.id)] = message.string
    return found


def _consoles(language: str) -> list[str]:
    """Names of the console's catalogues."""
    return sorted(path.stem for path in (CONSOLE / "locale" / language).glob("*.po"))


def as_text(id_: "str | tuple[str, ...] | list[str]") -> Text:
    """A catalogue's own id as a text."""
    return id_ if isinstance(id_, str) else tuple(id_)


def missing(known: dict[Text, object], text: Text) -> bool:
    """Whether a text has no translation, or not in all its forms."""
    said = known.get(text)
    return not said or (isinstance(said, tuple | list) and not all(said))


def typeset(text: str) -> str:
    """French as it is printed: no break before `: ; ! ? %` or inside « », a curly apostrophe."""
    parts = re.split(r"(<code>.*?</code>)", text)
    for place in range(0, len(parts), 2):
        curly = parts[place].replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
        parts[place] = _TIED.sub("\N{NO-BREAK SPACE}", curly)
    return "".join(parts)


def update(module: str) -> int:
    """Bring a module's catalogues up to date; gives how many translations it lacks."""
    if module == SITE:
        mine = [text for _, _, text in texts(DOCS)]
    else:
        modules = page_modules()
        mine = [text for path, _, text in texts() if module_of(path, modules) == module]
    lacking = 0
    for language in LANGUAGES:
        old = read(language, module)
        new = Catalog(locale=language, header_comment="", fuzzy=False)
        elsewhere = {
            message.id
            for other in _consoles(language)
            if other != module
            for message in read(language, other)
            if message.string
        }
        for text in dict.fromkeys(mine):
            kept = old.get(text if isinstance(text, str) else text[0])
            if kept is None and (text in elsewhere):
                continue
            said = (kept.string if kept is not None else "") or ""
            if language == "fr":
                said = typeset(said) if isinstance(said, str) else tuple(map(typeset, said))
            new.add(text, said)
            lacking += missing({text: said}, text)
        path = file_of(language, module)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_po(file, new, width=100, omit_header=True, sort_output=True, no_location=True)
    return lacking


def main() -> None:
    """Run it for the modules named, or all."""
    for module in sys.argv[1:] or [*page_modules(), SHARED, SITE]:
        print(f"{module}: {update(module)} translations lacking")


if __name__ == "__main__":
    main()
