"""How much is expected of a model: its quality tier, from the checked-in data file.

A tier is stated, not measured: it is the place of a model in its vendor's line, each with its
source and date. Lines that were replaced twice, dated names of a model that stands beside them,
and models made for the edge or one trade have none. Nothing here knows which models are served or
what is asked of them.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from zurelay.catalogue.price import CatalogueError

TIERS: Final = ("light", "standard", "strong", "frontier")
"""All tiers, lowest first."""

UNRATED: Final = 0
"""Where no tier is stated."""


class Stated(msgspec.Struct, frozen=True):
    """What is stated of a model.

    Attributes:
        tier: its place in `TIERS`, from 1.
        place: in the file: of two models of one line and tier the later is the newer.
        source: who says so.
        checked: when that was checked, ISO.
    """

    tier: int
    place: int
    source: str
    checked: str


class _Group(msgspec.Struct, forbid_unknown_fields=True):
    source: str
    checked: str
    light: list[str] = []
    standard: list[str] = []
    strong: list[str] = []
    frontier: list[str] = []


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    stated: list[_Group]


def name_of(tier: int) -> str:
    """The tier's word; `unrated` for a model without one."""
    return TIERS[tier - 1] if tier else "unrated"


def number_of(word: str) -> int:
    """Its place in `TIERS`, from 1. Raises ValueError for no tier."""
    return TIERS.index(word) + 1


@cache
def standard() -> Mapping[str, Stated]:
    """The tiers shipped with this package, by public model id."""
    return load(files("zurelay.catalogue").joinpath("tiers.json").read_bytes())


def load(data: bytes) -> Mapping[str, Stated]:
    """The tiers in a file.

    Raises:
        CatalogueError: the file has not the expected shape, or a model stands in it twice.
    """
    try:
        document = msgspec.json.decode(data, type=_Document)
    except msgspec.DecodeError as error:
        raise CatalogueError("", f"no list of tiers: {error}") from error
    found: dict[str, Stated] = {}
    for group in document.stated:
        for number, word in enumerate(TIERS, start=1):
            for model_id in getattr(group, word):
                if model_id in found:
                    raise CatalogueError(model_id, "has two tiers")
                found[model_id] = Stated(number, len(found), group.source, group.checked)
    return found
