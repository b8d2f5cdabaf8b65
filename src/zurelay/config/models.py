"""The structured values of `[models.X]` and `[providers.X]`: routes, prices, effort levels, quirks.

Builds catalogue values from TOML tables. Knows neither the catalogue's content nor the providers.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from zurelay.catalogue.load import override, quirks
from zurelay.catalogue.model import Model
from zurelay.catalogue.price import CatalogueError
from zurelay.config import values as v

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OWN_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


@dataclass(frozen=True, slots=True)
class RouteSetting:
    """One entry of `routes`.

    Attributes:
        provider: name of a `[providers.X]` table.
        model: the provider's own name for the model; empty for the catalogue's, or the public id.
        weight: share inside one priority.
        priority: lower is tried first.
    """

    provider: str
    model: str = ""
    weight: float = 1.0
    priority: int = 1


def _parts(
    value: Mapping[str, object], known: Mapping[str, v.Type], gather: v.Gather
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in value.items():
        if name in known:
            found[name] = gather.read(name, known[name], item)
        else:
            gather.fault(name, f"unknown key.{v.hint(name, known)}")
    return found


# Limits


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What all callers of a model together may use; None for no limit."""

    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None


_LIMIT_PARTS = {
    "rpm": v.whole(1, 1_000_000_000, 600),
    "tpm": v.whole(1, 1_000_000_000_000, 1_000_000),
    "concurrency": v.whole(1, 1_000_000, 50),
}


def _limits(value: object) -> ModelLimits:
    gather = v.Gather()
    found = _parts(v.table(value, "{ rpm = 600, concurrency = 50 }"), _LIMIT_PARTS, gather)
    gather.close()
    return ModelLimits(**found)


LIMITS = v.Type("table of rpm, tpm and concurrency", _limits)


# Routes

_NAME = v.text("openai", most=200, empty=False)
_ROUTE_PARTS = {
    "provider": _NAME,
    "model": v.text("gpt-6", most=300, empty=False),
    "weight": v.number(0, 1_000_000, 1),
    "priority": v.whole(1, 1000, 1),
}


def _route(value: object) -> RouteSetting:
    if isinstance(value, str):
        return RouteSetting(_NAME.read(value))
    if not isinstance(value, dict):
        raise v.wrong(
            f"this is {v.described(value)}; write a provider's name, or a table such as"
            ' { provider = "openai", model = "its name there" }'
        )
    gather = v.Gather()
    found = _parts(value, _ROUTE_PARTS, gather)
    if "provider" not in value:
        gather.fault("provider", 'it is missing; write provider = "the name of a provider"')
    gather.close()
    return RouteSetting(**found)


_ROUTE_LIST = v.listing(v.Type("route", _route), '"openai"')


def _routes(value: object) -> tuple[RouteSetting, ...]:
    routes: tuple[RouteSetting, ...] = _ROUTE_LIST.read(value)
    if not routes:
        raise v.wrong("it is empty; name at least one provider, or leave routes out")
    return routes


ROUTES = v.Type("list of provider names or tables", _routes)


# What the catalogue knows: it has the rules, this gives them a place in the file

_BLANK = Model(id="", name="", vendor="", upstream="")
_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")


def _below(path: str) -> v.Path:
    """`price.above[0].input` as the path below `price`."""
    return tuple(int(at) if at else name for name, at in _STEP.findall(path))[1:]


def _from_outside(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_from_outside, value.values() if isinstance(value, dict) else value))
    return isinstance(value, v.Outside)


def _catalogue_type(title: str, read: Callable[[Any], object]) -> v.Type:
    def reader(value: object) -> object:
        try:
            return read(value)
        except CatalogueError as error:
            problem = "this cannot be used" if _from_outside(value) else error.problem
            raise v.Wrong((_below(error.path), problem)) from None

    return v.Type(title, reader)


def _overridden(key: str) -> Callable[[object], object]:
    return lambda value: getattr(override(_BLANK, {key: value}), key)


PRICE = _catalogue_type('table of dollars per million tokens, or "free"', _overridden("price"))
REASONING = _catalogue_type("table of levels and default", _overridden("reasoning"))
INPUT = _catalogue_type("list of kinds of input", _overridden("input"))


def _quirks(value: object) -> Mapping[str, object]:
    return MappingProxyType(quirks(v.table(value, "{ think_tags = true }")))


QUIRKS = _catalogue_type("table of quirks", _quirks)


# Headers


def _headers(value: object) -> Mapping[str, str]:
    gather = v.Gather()
    found: dict[str, str] = {}
    for name, item in v.table(value, '{ x-team = "search" }').items():
        lower = name.lower()
        if not _HEADER_NAME.fullmatch(name):
            gather.fault(name, "no usable header name; write letters, digits and -")
        elif lower in _OWN_HEADERS:
            gather.fault(name, "this header is the gateway's own; leave it out")
        elif lower in found:
            gather.fault(name, "this header stands here twice; write it once")
        else:
            found[lower] = gather.read(name, _HEADER_VALUE, item)
    gather.close()
    return MappingProxyType(found)


def _header_value(value: object) -> str:
    found: str = v.text("search", most=8000).read(value)
    if not found.isascii():
        raise v.wrong("it has characters beyond ASCII; a header takes none")
    return found.strip()


_HEADER_VALUE = v.Type("text", _header_value, secret=True)


HEADERS = v.Type("table of text", _headers, secret=True)
