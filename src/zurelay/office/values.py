"""What use cases take and give in fields: kinds of text and numbers, and how they are read.

Their bounds stand in the types, so that the admin API's document tells them. Every fault names its
field. Knows no use case.
"""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from msgspec import Meta, Struct, convert, to_builtins

from zurelay.access.accounts import Budget, Period
from zurelay.access.auto import AutoTerms, plain_terms, terms_of
from zurelay.access.keys import end_of_day
from zurelay.catalogue.money import format_factor, format_usd, parse_factor, parse_usd
from zurelay.chat.nearest import did_you_mean
from zurelay.meter.content import MOST_DAYS
from zurelay.office.desk import wrong

Name = Annotated[
    str,
    Meta(min_length=1, max_length=200, description="For people; printable characters."),
]
Note = Annotated[str, Meta(max_length=500, description="For people; printable characters.")]
Ref = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern="^[!-~]+$",
        description="Yours, unique: a repeat with the same one moves nothing again.",
    ),
]
Usd = Annotated[
    str,
    Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,9})?$", description="Dollars, a plain decimal."),
]
Rate = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Many = Annotated[int, Meta(ge=1, le=2**53 - 1)]
StoreDays = Annotated[
    int,
    Meta(
        ge=1,
        le=MOST_DAYS,
        description="Days that messages and answers are stored, encrypted; null: they are not.",
    ),
]
Markup = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,3}(\.[0-9]{1,6})?$",
        description="A factor on prices: 1.2 asks for a fifth more than the provider.",
    ),
]
Zone = Annotated[str, Meta(max_length=64, description="An IANA time zone: Europe/Brussels.")]
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description="YYYY-MM-DD.")]
Month = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}$", description="YYYY-MM.")]
Email = Annotated[str, Meta(min_length=3, max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
ModelName = Annotated[
    str, Meta(min_length=1, max_length=200, description="A model's id, or prefix/* for several.")
]
Models = Annotated[list[ModelName], Meta(max_length=200)]
Moment = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,
        description="A date (YYYY-MM-DD, UTC), or a time such as 2026-12-31T23:00:00Z.",
    ),
]

MOST: Final = 10**9 * 10**9
"""Nano-dollars that no single amount reaches."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class BudgetView(Struct):
    """The most that may be spent in each period, in the account's time zone."""

    usd: Usd
    period: Period


class BudgetForm(Struct, forbid_unknown_fields=True):
    """The most that may be spent in each period, in the account's time zone."""

    usd: Usd
    period: Period


Pattern = Annotated[
    str,
    Meta(min_length=1, max_length=200, description="A model's id, with * for any text."),
]
Amount = Annotated[
    str,
    Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,12})?$", description="USD per million tokens."),
]


class CeilingForm(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The dearest price a chosen model may have; left out: no bound."""

    input: Amount | None = None
    output: Amount | None = None


class AutoForm(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What differs for a key in the smart choice; left out: as the configuration says."""

    allow: Annotated[list[Pattern], Meta(max_length=200)] | None = None
    exclude: Annotated[list[Pattern], Meta(max_length=200)] | None = None
    ceiling: CeilingForm | None = None


def auto_of(form: AutoForm | None, param: str = "auto") -> AutoTerms | None:
    """As the gateway keeps it. Raises Refused."""
    if form is None:
        return None
    try:
        return terms_of(to_builtins(form))
    except ValueError as error:
        raise wrong(param, f"{param}: {error}.") from None


def auto_view(terms: AutoTerms | None) -> AutoForm | None:
    """As it is shown."""
    return None if terms is None else convert(plain_terms(terms), AutoForm)


def budget_of(form: BudgetForm | None) -> Budget | None:
    """As the gateway keeps it. Raises Refused."""
    return None if form is None else Budget(amount_of(form.usd, "budget.usd"), form.period)


def budget_view(budget: Budget | None) -> BudgetView | None:
    """As it is shown."""
    return None if budget is None else BudgetView(format_usd(budget.usd), budget.period)


def amount_of(text: str, param: str, *, positive: bool = False) -> int:
    """Dollars in nano-dollars. Raises Refused."""
    try:
        amount = parse_usd(text)
    except ValueError as error:
        raise wrong(param, f"{param}: {error}.") from None
    if positive and not amount:
        raise wrong(param, f"{param}: write an amount above 0.")
    return amount


def usd(nano: int | None) -> str | None:
    """Nano-dollars as they are shown; None stays None."""
    return None if nano is None else format_usd(nano)


def usd_of(nano: int) -> str:
    """Nano-dollars as they are shown."""
    return format_usd(nano)


def name_of(text: str, param: str = "name") -> str:
    """A name that people can read. Raises Refused."""
    if not text.strip() or not text.isprintable() or len(text) > 200:
        raise wrong(param, f"{param}: write 1 to 200 printable characters.")
    return text


def note_of(text: str, param: str = "note") -> str:
    """A note that people can read. Raises Refused."""
    if not text.isprintable() or len(text) > 500:
        raise wrong(param, f"{param}: write at most 500 printable characters.")
    return text


def ref_of(text: str, param: str = "ref") -> str:
    """A name for a transfer. Raises Refused."""
    if not text or len(text) > 200 or not (text.isascii() and text.isprintable()) or " " in text:
        raise wrong(param, f"{param}: write 1 to 200 visible ASCII characters.")
    return text


def email_of(text: str, param: str = "email") -> str:
    """An e-mail address in small letters. Raises Refused."""
    name, at, host = text.partition("@")
    if not (name and at and host) or "@" in host or not text.isprintable() or " " in text:
        raise wrong(param, f"{param}: write an address such as ann@example.com.")
    return text.lower()


def zone_name(text: str | None, param: str = "zone") -> str | None:
    """The name of a time zone that there is. Raises Refused."""
    if text is None:
        return None
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = did_you_mean(text, available_timezones())
        raise wrong(param, f"{param}: there is no time zone '{shown(text)}'.{hint}") from None
    return text


def markup_of(text: str | None, param: str = "markup") -> str | None:
    """A factor on prices. Raises Refused."""
    if text is None:
        return None
    try:
        return format_factor(parse_factor(text))
    except ValueError as error:
        raise wrong(param, f"{param}: {error}.") from None


def models_of(names: list[str] | None, param: str = "models") -> tuple[str, ...] | None:
    """Model ids a key may use, each once. Raises Refused."""
    if names is None:
        return None
    for place, name in enumerate(names):
        if not name.strip() or not name.isprintable():
            raise wrong(f"{param}[{place}]", f"{param}[{place}]: write a model's id.")
    return tuple(dict.fromkeys(names))


def last_day(text: str | None, now: float, param: str = "expires") -> int | None:
    """Unix seconds at which a key whose last day that is stops working. Raises Refused."""
    if text is None:
        return None
    try:
        end = end_of_day(date.fromisoformat(text))
    except (ValueError, OverflowError):
        message = f"{param}: write the last day it works, such as 2030-12-31."
        raise wrong(param, message) from None
    if end <= now:
        raise wrong(param, f"{param}: that day is over.")
    return end


def day_before(end: int | None) -> str | None:
    """The last day of a key that stops working at Unix second `end`, in UTC."""
    return None if end is None else datetime.fromtimestamp(end - 1, UTC).date().isoformat()


def moment_of(text: str | None, param: str) -> float | None:
    """Unix seconds of a date or time. Raises Refused."""
    if text is None:
        return None
    try:
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise ValueError(text)  # noqa: TRY301 - one message for all
        return found.timestamp()
    except (ValueError, OverflowError):
        raise wrong(
            param, f"{param}: write a date such as 2026-12-31, or 2026-12-31T23:00:00Z."
        ) from None


def iso(seconds: float | None) -> str | None:
    """Unix seconds as RFC 3339 in UTC."""
    return None if seconds is None else iso_of(seconds)


def iso_of(seconds: float) -> str:
    """Unix seconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(text: str) -> str:
    """What somebody wrote, fit to be repeated in a message."""
    return "".join(c if c.isprintable() else " " for c in text[:64])
