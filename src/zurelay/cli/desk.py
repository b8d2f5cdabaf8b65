"""The office on the command line: its desk over a store, who acts, and terms as people type them.

Knows no command.
"""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import typer

from zurelay.cli.options import opened

if TYPE_CHECKING:  # commands import late, so that --help stays fast
    from msgspec import UnsetType

    from zurelay.office.desk import Desk
    from zurelay.office.rights import Actor
    from zurelay.office.values import AutoForm, BudgetForm
    from zurelay.store.sealing import Sealer

NONE: Final = "none"
"""Takes a limit away."""

T = TypeVar("T")


class Seat(NamedTuple):
    """A desk and who sits at it."""

    desk: "Desk"
    actor: "Actor"


@contextmanager
def at_desk(config: Path | None, data: Path, *, make: bool = False) -> Iterator[Seat]:
    """The office of the data folder's store, for the user of this shell.

    Whoever may read and write the data folder owns the gateway.

    Raises:
        ConfigError: `[storage]` or `[billing]` has a fault.
        StoreError: the store cannot be used.
        Failed: there is none, and none is to be made.
    """
    from zurelay.config.load import load_billing
    from zurelay.office.desk import Desk

    with opened(config, data, make=make) as store:
        billing = load_billing(config, os.environ)
        desk = Desk(
            store,
            prepaid=lambda: billing.prepaid,
            zone=lambda: billing.zone,
            sealer=lambda: _sealer(config),
        )
        yield Seat(desk, shell())


def shell() -> "Actor":
    """The user of this shell, as who acts."""
    from zurelay.office.rights import Actor

    return Actor(f"cli:{_user()}", "owner")


def budget_form(text: str) -> "BudgetForm":
    """`20/month` as the office takes it."""
    from typing import get_args

    from zurelay.access.accounts import Period
    from zurelay.catalogue.money import parse_usd
    from zurelay.office.values import BudgetForm

    amount, _, period = text.partition("/")
    periods: dict[str, Period] = {name: name for name in get_args(Period)}
    try:
        parse_usd(amount)
        return BudgetForm(amount, periods[period])
    except (ValueError, KeyError):
        raise typer.BadParameter(
            "write dollars and a period: 20/day, 20/week, 20/month or 20/total",
            param_hint="'--budget'",
        ) from None


def budget_change(text: str | None) -> "BudgetForm | UnsetType | None":
    """What `--budget` changes: nothing where it is left out."""
    from msgspec import UNSET

    if text is None:
        return UNSET
    return None if text == NONE else budget_form(text)


def number_change(text: str | None, option: str) -> "int | UnsetType | None":
    """What an option that takes a number or `none` changes."""
    from msgspec import UNSET

    if text is None:
        return UNSET
    if text == NONE:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**53):
        raise typer.BadParameter("write a number above 0, or none", param_hint=f"'{option}'")
    return int(text)


def text_change(text: str | None) -> "str | UnsetType | None":
    """What an option that takes text or `none` changes."""
    from msgspec import UNSET

    if text is None:
        return UNSET
    return None if text == NONE else text


def models_of(text: str) -> list[str]:
    """`a,b` as a list."""
    found = list(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))
    if not found:
        raise typer.BadParameter("name at least one model, such as gpt-6", param_hint="'--models'")
    return found


def auto_form(text: str) -> "AutoForm":
    """`allow=a,b;exclude=c;ceiling=5.00/25.00` as the office takes it; each part may be missing."""
    from zurelay.office.values import AutoForm, CeilingForm

    form = AutoForm()
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, value = part.partition("=")
        match name.strip():
            case "allow":
                form.allow = models_of(value)
            case "exclude":
                form.exclude = models_of(value)
            case "ceiling":
                first, _, second = (one.strip() for one in value.partition("/"))
                form.ceiling = CeilingForm(first or None, second or None)
            case _:
                raise typer.BadParameter(
                    "write parts such as allow=claude-*,gpt-6*;exclude=*-astra;ceiling=5.00/25.00",
                    param_hint="'--auto'",
                )
    return form


def auto_change(text: str | None) -> "AutoForm | UnsetType | None":
    """What `--auto` changes: nothing where it is left out."""
    from msgspec import UNSET

    if text is None:
        return UNSET
    return None if text == NONE else auto_form(text)


def last_day(text: str, now: float) -> str:
    """A day that is not over."""
    from zurelay.access.keys import end_of_day

    try:
        end = end_of_day(date.fromisoformat(text))
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            "write the last day as YYYY-MM-DD, such as 2030-12-31", param_hint="'--expires'"
        ) from None
    if end <= now:
        raise typer.BadParameter("that day is over", param_hint="'--expires'")
    return text


def dollars(text: str, hint: str) -> str:
    """An amount above zero."""
    from zurelay.catalogue.money import parse_usd

    try:
        amount = parse_usd(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from None
    if not amount:
        raise typer.BadParameter("write an amount above 0", param_hint=hint)
    return text


def days_change(text: str | None) -> "int | UnsetType | None":
    """What `--store-days` changes: nothing where it is left out."""
    return number_change(NONE if text == "off" else text, "--store-days")


def _sealer(config: Path | None) -> "Sealer | None":
    """Of the configuration, read only where messages are concerned: its secret may not be here."""
    from zurelay.app.contents import sealer_of
    from zurelay.config.load import load_log

    return sealer_of(load_log(config, os.environ))


def _user() -> str:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
    return "".join(c for c in name[:64] if c.isprintable()) or "unknown"
