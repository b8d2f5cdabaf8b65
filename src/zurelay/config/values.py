"""Types of settings: how a TOML value is checked and read, and how the type is described.

Knows no setting by name, no file and no environment. A reader takes the parsed TOML value and
gives the value the program uses, or raises `Wrong` with every fault and its place below the value.
"""

import ipaddress
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from zurelay.catalogue.money import parse_factor
from zurelay.chat.nearest import did_you_mean
from zurelay.live.valkey_address import AddressError
from zurelay.live.valkey_address import parse as parse_valkey

_WORD = re.compile(r"[a-z][a-z0-9-]{0,29}")

Path = tuple[str | int, ...]


class Wrong(Exception):  # noqa: N818 - it reads as what it says
    """A value that cannot be used: (path below it, what to write instead) for each fault.

    Without faults it means that the value is unusable for a reason already told.
    """

    def __init__(self, *faults: tuple[Path, str]) -> None:
        super().__init__("; ".join(message for _, message in faults))
        self.faults = faults


def wrong(message: str) -> Wrong:
    """A fault of the value itself."""
    return Wrong(((), message))


class Unresolved:
    """Stands for a value whose reference led nowhere; the fault has been told."""


UNRESOLVED = Unresolved()


def unresolved(value: object) -> bool:
    """Whether a reference in the value led nowhere."""
    if isinstance(value, dict):
        return any(map(unresolved, value.values()))
    if isinstance(value, list):
        return any(map(unresolved, value))
    return isinstance(value, Unresolved)


class Outside(str):
    """Text that came from the environment or a file: it may stand for a number or a flag too."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Type:
    """A kind of value.

    Attributes:
        title: what the documentation calls it.
        reader: from the TOML value to the program's value; raises `Wrong`.
        secret: its values are shown nowhere.
    """

    title: str
    reader: Callable[[Any], Any]
    secret: bool = False

    def read(self, value: object) -> Any:
        """The program's value. Raises Wrong, without faults if a reference below led nowhere."""
        if unresolved(value):
            raise Wrong
        return self.reader(value)


class Gather:
    """Reads the parts of a value and collects the faults of all of them."""

    def __init__(self) -> None:
        self.faults: list[tuple[Path, str]] = []
        self.broken = False

    def read(self, at: str | int, of: Type, value: object) -> Any:
        """The part's value, or None after a fault."""
        try:
            return of.read(value)
        except Wrong as error:
            self.broken = True
            self.faults += [((at, *path), message) for path, message in error.faults]
            return None

    def fault(self, at: str | int, message: str) -> None:
        """Note a fault of the part `at`."""
        self.broken = True
        self.faults.append(((at,), message))

    def close(self) -> None:
        """Raise Wrong if any part was."""
        if self.broken:
            raise Wrong(*self.faults)


def described(value: object) -> str:
    """The TOML type of a value, in words, without the value."""
    match value:
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float():
            return "a number with a fraction"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "a table"
        case datetime() | date() | time():
            return "a date or time"
        case _:
            return "something else"


def hint(name: str, known: Collection[str]) -> str:
    """What to write instead of an unknown word: the nearest known one, else all of them."""
    return did_you_mean(name, known) or f" Known here: {', '.join(known)}."


def _misfit(value: object, write: str) -> Wrong:
    if isinstance(value, Outside):
        return wrong(f"what stands there for it is not usable: it must be {write}")
    return wrong(f"this is {described(value)}; write {write}")


def _text(value: object, write: str) -> str:
    if not isinstance(value, str):
        raise _misfit(value, write)
    return str(value)


def text(example: str, *, most: int = 1000, empty: bool = True) -> Type:
    """One line of text of at most `most` characters."""

    def read(value: object) -> str:
        found = _text(value, f'text in quotes, such as "{example}"')
        if not found and not empty:
            raise wrong(f'it is empty; write text in quotes, such as "{example}"')
        if len(found) > most:
            raise wrong(f"it is too long; write at most {most} characters")
        if not found.isprintable():
            raise wrong("it has line breaks or control characters; write one plain line")
        return found

    return Type("text", read)


def secret(example: str) -> Type:
    """A credential: visible ASCII, since it travels in a header."""

    def read(value: object) -> str:
        found = _text(value, f'text in quotes, such as "{example}"').strip()
        if not found:
            raise wrong(f'it is empty; write for example "{example}"')
        if not (found.isascii() and found.isprintable()) or " " in found:
            raise wrong("it has spaces, line breaks or special characters; a key has none")
        return found

    return Type("secret text", read, secret=True)


def document(example: str) -> Type:
    """The content of a file with a credential: text of several lines."""

    def read(value: object) -> str:
        found = _text(value, f'text in quotes, such as "{example}"')
        if not found.strip():
            raise wrong(f'it is empty; write for example "{example}"')
        return found

    return Type("secret text, of a file", read, secret=True)


def whole(least: int, most: int, example: int) -> Type:
    """A whole number from `least` to `most`."""

    def read(value: object) -> int:
        write = f"a whole number, such as {example}"
        if isinstance(value, Outside):
            try:
                value = int(value)
            except ValueError:
                raise _misfit(value, write) from None
        if isinstance(value, bool) or not isinstance(value, int):
            raise _misfit(value, write)
        if not least <= value <= most:
            raise wrong(f"out of range; write a whole number from {least} to {most}")
        return value

    return Type(f"whole number, {least} to {most}", read)


def number(least: float, most: float, example: float, unit: str = "") -> Type:
    """A number from `least` to `most`, with or without a fraction."""

    def read(value: object) -> float:
        write = f"a number{unit}, such as {example:g}"
        if isinstance(value, Outside):
            try:
                value = float(value)
            except ValueError:
                raise _misfit(value, write) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _misfit(value, write)
        if not least <= value <= most:  # also what nan comes to
            raise wrong(f"out of range; write a number{unit} from {least:g} to {most:g}")
        return float(value)

    return Type(f"number{unit}, {least:g} to {most:g}", read)


def seconds(least: float, most: float, example: float) -> Type:
    """A duration in seconds."""
    return number(least, most, example, " of seconds")


def _flag(value: object) -> bool:
    if isinstance(value, Outside) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise _misfit(value, "true or false, without quotes")
    return value


FLAG = Type("true or false", _flag)


def choice(*words: str) -> Type:
    """One of a few words."""
    listed = ", ".join(f'"{word}"' for word in words)

    def read(value: object) -> str:
        found = _text(value, f"one of {listed}")
        if found not in words:
            raise wrong(f"no known word; write one of {listed}")
        return found

    return Type(f"one of {listed}", read)


def address(
    example: str, *, schemes: Sequence[str] = ("http", "https"), empty: bool = True
) -> Type:
    """A URL without user, query or fragment; a trailing slash is taken off."""

    def read(value: object) -> str:
        write = f'an address such as "{example}"'
        found = _text(value, write)
        if not found and empty:
            return ""
        if not found.isascii() or not found.isprintable() or " " in found:
            raise wrong(f"no usable address; write {write}")
        try:
            parts = urlsplit(found)
            usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        else:
            if usable and (parts.username is not None or parts.password is not None):
                raise wrong("an address must not carry a user or password; use api_key or headers")
            if usable and (parts.query or parts.fragment):
                raise wrong(f"an address must not carry ? or #; write {write}")
        if not usable:
            raise wrong(
                f"it must begin with {' or '.join(s + '://' for s in schemes)}; write {write}"
            )
        return found.rstrip("/")

    return Type("address", read)


def word(example: str, *, empty: bool = False) -> Type:
    """A lower-case word that can be part of a header or host name."""

    def read(value: object) -> str:
        found = _text(value, f'a word in quotes, such as "{example}"')
        if not found and empty:
            return ""
        if not _WORD.fullmatch(found):
            raise wrong(
                "write 1 to 30 of the characters a to z, 0 to 9 and -, beginning with a letter"
            )
        return found

    return Type("word", read)


def _zone(value: object) -> str:
    found = _text(value, 'a time zone in quotes, such as "Europe/Amsterdam"')
    known = available_timezones()
    if found not in known:
        raise wrong(
            f"{found[:60]!r} is no time zone.{did_you_mean(found, known)}"
            ' Write one such as "Europe/Amsterdam".'
        )
    return found


ZONE = Type("time zone", _zone)


def database() -> Type:
    """The address of the store; empty for the one in the data folder."""

    def read(value: object) -> str:
        found = _text(value, '""')
        if found and not found.startswith(("postgresql://", "postgres://")):
            raise wrong('write "" for SQLite or "postgresql://USER:PASSWORD@HOST/DATABASE"')
        return found

    return Type("address of a database", read)


def _valkey(value: object) -> str:
    found = _text(value, 'an address such as "valkey://host:6379/0"')
    if found:
        try:
            parse_valkey(found)
        except AddressError as error:
            raise wrong(str(error)) from None
    return found


VALKEY = Type("address of a Valkey or Redis server", _valkey, secret=True)


def _network(value: object) -> str:
    found = _text(value, 'an address or network such as "10.0.0.0/8"')
    try:
        return str(ipaddress.ip_network(found, strict=False))
    except ValueError:
        raise wrong('no IP address or network; write for example "10.0.0.0/8"') from None


NETWORK = Type("IP address or network", _network)


def _factor(value: object) -> str:
    found = _text(value, 'a factor in quotes, such as "1.25"')
    try:
        parse_factor(found)
    except ValueError as error:
        raise wrong(str(error)) from None
    return found


FACTOR = Type("factor as text", _factor)


def listing(of: Type, example: str, *, distinct: bool = True) -> Type:
    """A list of values of one type, read into a tuple."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _misfit(value, f"a list in brackets, such as [{example}]")
        gather = Gather()
        found = tuple(gather.read(place, of, item) for place, item in enumerate(value))
        gather.close()
        if distinct and len(set(found)) != len(found):
            raise wrong("it names something twice; write each once")
        return found

    return Type(f"list of {of.title}", read, secret=of.secret)


def table(value: object, example: str) -> Mapping[str, object]:
    """The value as a table. Raises Wrong."""
    if not isinstance(value, dict):
        raise _misfit(value, f"a table, such as {example}")
    return value
