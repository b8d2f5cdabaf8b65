"""The console's languages: catalogues of words, and the forms of dates, numbers and money.

English words stand in templates and modules; `locale/<language>/<module>.po` has the others, one
file a page module. They are read at the first page, without a compiler. Knows no page.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import Final

from babel import Locale
from babel.dates import format_date, format_datetime, format_timedelta
from babel.numbers import format_compact_decimal, format_currency, format_decimal, format_percent

from zurelay.letters.words import read_words

FOLDER: Final = Path(__file__).parent / "locale"
NAMES: Final = {"en": "English", "nl": "Nederlands", "fr": "Français"}
"""What each language calls itself."""


def N_(text: str) -> str:  # noqa: N802 - gettext's own word for it
    """Mark a text for the catalogues; it is translated where it is shown."""
    return text


class Language:
    """One language: its words, and how it writes what is counted and dated.

    Attributes:
        code: as in `lang` attributes.
    """

    def __init__(self, code: str, words: NullTranslations) -> None:
        self.code = code
        self._words = words
        self._locale = Locale.parse({"en": "en_US", "nl": "nl_NL", "fr": "fr_FR"}[code])
        # Days come before months also in English, as in the rest of Europe.
        self._dates = Locale.parse("en_GB") if code == "en" else self._locale

    def gettext(self, text: str) -> str:
        """The text in this language."""
        return self._words.gettext(text) if text else ""

    def ngettext(self, one: str, many: str, count: int) -> str:
        """The text for that many, with `%(num)s` left to be filled in."""
        return self._words.ngettext(one, many, count)

    def number(self, value: "int | float | Decimal") -> str:
        """1234567 as 1,234,567 or as this language has it."""
        return str(format_decimal(value, locale=self._locale))

    def compact(self, value: "int | float") -> str:
        """1234567 as 1.2M: where room is small."""
        if abs(value) < 10_000:
            return self.number(value)
        text = format_compact_decimal(
            value, format_type="short", locale=self._locale, fraction_digits=1
        )
        return str(text)

    def money(self, usd: "str | Decimal | None", *, exact: bool = False) -> str:
        """Dollars, given as a decimal; small amounts with as many places as tell something.

        `exact`: with every place that it has.
        """
        if usd is None:
            return ""
        amount = Decimal(usd)
        places = 2
        if amount and abs(amount) < Decimal("0.01"):
            places = min(9, -amount.adjusted() + 1)
        if exact:
            places = max(2, -int(amount.normalize().as_tuple().exponent))
        form = self._locale.currency_formats["standard"].pattern.replace("#,##0.00", "@")
        pattern = form.split(";")[0].replace("@", "#,##0." + "0" * places)
        text = format_currency(
            amount, "USD", format=pattern, locale=self._locale, currency_digits=False
        )
        return str(text).replace("US$", "$").replace("$US", "$")

    def factor(self, text: str) -> str:
        """A mark-up, given as a decimal, behind the sign of times."""
        told = format_decimal(Decimal(text), format="#,##0.######", locale=self._locale)
        return f"\u00d7 {told}"

    def share(self, value: float) -> str:
        """0.0123 as 1.2 %."""
        places = 1 if value and abs(value) < 0.1 else 0
        pattern = self._locale.percent_formats[None].pattern
        pattern = pattern.replace("#,##0", "#,##0" + ("." + "0" * places if places else ""))
        return str(format_percent(value, format=pattern, locale=self._locale))

    def date(self, when: "str | float") -> str:
        """A day: 29 Nov 2026."""
        return str(format_date(_moment(when).date(), "medium", locale=self._dates))

    def day(self, when: "str | float") -> str:
        """A day in little room: 29 Nov."""
        return str(format_datetime(_moment(when), "d MMM", locale=self._dates))

    def moment(self, when: "str | float") -> str:
        """A time of day in UTC: 29 Nov 2026, 12:00."""
        return f"{format_datetime(_moment(when), 'd MMM y, HH:mm', locale=self._dates)}"

    def clock(self, when: "str | float") -> str:
        """An hour and minute in UTC: 12:00."""
        return str(format_datetime(_moment(when), "HH:mm", locale=self._dates))

    def ago(self, when: "str | float", now: float) -> str:
        """How long since: 5 minutes ago. Nothing is less than a second ago, nor in 0 seconds."""
        gone = round(now - _moment(when).timestamp()) or 1
        text = format_timedelta(-gone, add_direction=True, locale=self._locale)
        return str(text)

    def duration(self, milliseconds: "float | None") -> str:
        """How long it took: 340 ms, 1.2 s."""
        if milliseconds is None:
            return ""
        if milliseconds < 1000:
            return f"{self.number(round(milliseconds))} ms"
        return f"{self.number(round(milliseconds / 1000, 1))} s"


@cache
def language(code: str, *more: Path) -> Language:
    """The language with that code, one of `NAMES`.

    Args:
        code: as in `lang` attributes.
        more: folders like `FOLDER` with words of other pages than the console's.
    """
    return Language(code, read_words(code, (FOLDER, *more)))


def choose(kept: str | None, accepted: str) -> str:
    """The language to use.

    Args:
        kept: what was chosen before, by a cookie or in a profile.
        accepted: the browser's `Accept-Language`.
    """
    if kept in NAMES:
        return str(kept)
    for wanted in _by_weight(accepted):
        if (found := wanted.partition("-")[0].lower()) in NAMES:
            return found
    return "en"


def _by_weight(accepted: str) -> Iterable[str]:
    weighed = []
    for place, part in enumerate(accepted[:500].split(",")):
        name, _, rest = part.strip().partition(";")
        try:
            weight = float(rest.partition("=")[2]) if rest else 1.0
        except ValueError:
            weight = 0.0
        weighed.append((-weight, place, name.strip()))
    return [name for weight, _, name in sorted(weighed) if weight < 0]


def _moment(when: "str | float") -> datetime:
    if isinstance(when, str):
        found = datetime.fromisoformat(when)
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return datetime.fromtimestamp(when, UTC)
