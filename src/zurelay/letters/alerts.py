"""What alerts say, in mails, in the console and on the command line: a sentence for each kind.

English stands here; `locale/<language>/alerts.po` has the others. Knows nobody and no database.
"""

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from gettext import NullTranslations
from typing import Final

from babel.numbers import format_currency, format_decimal

from zurelay.letters.texts import FOLDER, LANGUAGES, N_, Text
from zurelay.letters.words import read_words

SENTENCES: Final[Mapping[str, str]] = {
    "budget": N_("%(level)s%% of a budget is spent: %(spent)s of %(budget)s (%(what)s)."),
    "budget_spent": N_("A budget is spent: %(spent)s of %(budget)s (%(what)s)."),
    "balance": N_("At most %(share)s%% of the balance is left: %(left)s (%(what)s)."),
    "balance_spent": N_("The balance is used up (%(what)s)."),
    "route_down": N_("The route %(route)s is down."),
    "unreachable": N_("The provider %(provider)s cannot be reached."),
    "credential_refused": N_("The provider %(provider)s refuses our credential."),
    "out_of_credit": N_("Our account with the provider %(provider)s has no credit."),
    "spool": N_("Node %(node)s holds records that it cannot deliver: %(rows)s."),
    "disk": N_("The disk of %(node)s is %(percent)s%% full."),
    "clock": N_("The clock of %(node)s and the database's differ by %(seconds)s s."),
    "not_ready": N_("Node %(node)s takes no requests."),
    "node_silent": N_("Node %(node)s is not heard of any more."),
    "unpriced": N_("Models without a price are refused: %(models)s."),
    "store_away": N_("Node %(node)s cannot reach its database."),
    "retiring": N_("Models that retire on %(day)s: %(models)s."),
    "test": N_("This is a test. Alerts arrive."),
}
"""By kind; `budget_spent` and `balance_spent` are the same kinds at 100 percent."""

RAISED: Final = Text(
    N_("Alert: %(what)s"),
    ("%(what)s", N_("Since %(since)s (UTC).")),
    (N_("A mail comes when it is over."),),
)
OVER: Final = Text(
    N_("Over: %(what)s"),
    (N_("This is over:"), "%(what)s", N_("From %(since)s to %(until)s (UTC).")),
)
SPENDING: Final = Text(
    "%(what)s",
    ("%(what)s", N_("Budgets, payments and who is told:")),
)
SPENT: Final = Text(
    "%(what)s",
    (
        "%(what)s",
        N_("Requests that it pays for are refused until there is more, or a new period begins."),
        N_("Budgets, payments and who is told:"),
    ),
)
TRIAL: Final = Text(
    N_("A test of alerts for %(account_name)s"),
    (N_("This is a test. Alerts arrive."), N_("Budgets, payments and who is told:")),
)

_PLACES: Final = {"en": "en_US", "nl": "nl_NL", "fr": "fr_FR"}
_MONEY: Final = frozenset({"spent", "budget", "left", "credit"})


def say(code: str, sentence: str, values: Mapping[str, object]) -> str:
    """A sentence in a language; amounts are decimals of dollars, numbers as they are.

    Args:
        code: of the language; English for one that there is none of.
        sentence: one of `SENTENCES`.
        values: what is filled in.
    """
    code = code if code in LANGUAGES else "en"
    told = {name: _told(code, name, value) for name, value in values.items()}
    return _words(code).gettext(SENTENCES[sentence]) % told


def money(code: str, usd: str) -> str:
    """Dollars, given as a decimal, as a language writes them."""
    amount = Decimal(usd)
    if amount and abs(amount) < Decimal("0.01"):
        return f"${amount:f}"
    text = format_currency(amount, "USD", locale=_PLACES.get(code, "en_US"))
    return str(text).replace("US$", "$").replace("$US", "$")


def _told(code: str, name: str, value: object) -> str:
    if name in _MONEY and isinstance(value, str):
        return money(code, value)
    if isinstance(value, (int, float)):
        return str(format_decimal(value, locale=_PLACES[code]))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


@cache
def _words(code: str) -> NullTranslations:
    return read_words(code, [FOLDER])
