"""Catalogues of words: `<folder>/<language>/*.po`, read without a compiler. Knows no text."""

import io
from collections.abc import Iterable
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


def read_words(code: str, folders: Iterable[Path]) -> NullTranslations:
    """The words of a language from all catalogues of those folders; English has none."""
    if code == "en":
        return NullTranslations()
    whole = Catalog(locale=code)
    for path in [path for folder in folders for path in sorted((folder / code).glob("*.po"))]:
        with path.open("rb") as file:
            for message in read_po(file, locale=code):
                if message.id:
                    whole[message.id] = message
    made = io.BytesIO()
    write_mo(made, whole)
    made.seek(0)
    return GNUTranslations(made)
