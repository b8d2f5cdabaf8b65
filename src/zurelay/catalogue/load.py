"""The catalogue: what vendors offer, from the checked-in data file.

`standard()` reads the file that is shipped with the package; everything else is a function of
bytes and tables. Nothing here knows which providers are configured.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, get_type_hints

import msgspec

from zurelay.catalogue.embeddings import EMBEDDING_MODELS
from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.catalogue.price import CatalogueError, parse_price
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.chat.effort import SCALE
from zurelay.chat.nearest import did_you_mean, nearest
from zurelay.chat.profile import Profile

INPUT_KINDS = ("text", "image", "pdf", "audio", "video")
_QUIRKS = get_type_hints(Profile)
"""Quirk -> its type."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All known models.

    Attributes:
        by_vendor: vendor -> its models, in file order.
        by_id: public id -> the first entry with that id; labs stand before hosts, so this is the
            lab's own where it has one.
    """

    by_vendor: Mapping[str, tuple[Model, ...]] = field(default_factory=dict)
    by_id: Mapping[str, Model] = field(default_factory=dict)

    def entry(self, vendor: str, model_id: str) -> Model | None:
        """What `vendor` offers under that public id, or None."""
        return next((m for m in self.by_vendor.get(vendor, ()) if m.id == model_id), None)

    def nearest(self, model_id: str) -> str | None:
        """The known public id most like `model_id`, or None."""
        return nearest(model_id, self.by_id)


def catalogue(models: Iterable[Model]) -> Catalogue:
    """The catalogue of `models`, in their order."""
    by_vendor: dict[str, list[Model]] = {}
    by_id: dict[str, Model] = {}
    for model in models:
        by_vendor.setdefault(model.vendor, []).append(model)
        by_id.setdefault(model.id, model)
    return Catalogue({vendor: tuple(entries) for vendor, entries in by_vendor.items()}, by_id)


@cache
def standard() -> Catalogue:
    """The catalogue shipped with this package: the file, embeddings and sandbox models."""
    data = files("zurelay.catalogue").joinpath("catalogue.json").read_bytes()
    return catalogue((*load(data), *EMBEDDING_MODELS, *SANDBOX_MODELS))


def load(data: bytes) -> tuple[Model, ...]:
    """The models of a catalogue file.

    Raises:
        CatalogueError: the file is no JSON of the expected shape, or an entry is wrong; the path
            names vendor and id.
    """
    try:
        document = msgspec.json.decode(data, type=_Document)
    except msgspec.DecodeError as error:
        raise CatalogueError("", f"not a catalogue: {error}") from error
    models = tuple(_model(entry) for entry in document.models)
    seen: set[tuple[str, str]] = set()
    for model in models:
        if (model.vendor, model.id) in seen:
            raise CatalogueError(f"{model.vendor}/{model.id}", "stands in the file twice")
        seen.add((model.vendor, model.id))
    return models


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    vendor: str
    id: str
    name: str
    upstream: str = ""
    context: int | None = None
    max_output: int | None = None
    input: list[str] = []
    reasoning: dict[str, Any] | None = None
    price: dict[str, Any] | str | None = None
    later: list[dict[str, Any]] = []
    format: str = ""
    quirks: dict[str, Any] = {}
    tools: bool | None = None
    retires: str = ""
    released: str = ""
    source: str = ""
    checked: str = ""


class _Document(msgspec.Struct):
    models: list[_Entry]


def _model(entry: _Entry) -> Model:
    where = f"{entry.vendor}/{entry.id}"
    price = None
    if entry.price is not None:
        price = parse_price(entry.price, f"{where}.price")
        price = replace(
            price, source=price.source or entry.source, checked=price.checked or entry.checked
        )
    return Model(
        id=entry.id,
        name=entry.name,
        vendor=entry.vendor,
        upstream=entry.upstream or entry.id,
        context=entry.context,
        max_output=entry.max_output,
        input=_input_kinds(entry.input, f"{where}.input"),
        reasoning=_reasoning(entry.reasoning, f"{where}.reasoning"),
        price=price,
        later=_later(entry.later, f"{where}.later"),
        format=entry.format,
        quirks=quirks(entry.quirks, f"{where}.quirks"),
        tools=entry.tools,
        mode="chat",
        retires=entry.retires,
        released=entry.released,
        source=entry.source,
        checked=entry.checked,
    )


def _later(items: Sequence[object], where: str) -> tuple[Price, ...]:
    prices = tuple(parse_price(item, f"{where}[{i}]") for i, item in enumerate(items))
    days = [price.since for price in prices]
    if not all(days) or days != sorted(days):
        raise CatalogueError(where, "each later price needs `since`, in rising order")
    return prices


def quirks(table: Mapping[str, object], where: str = "quirks") -> dict[str, object]:
    """Changes to a profile, from plain data: lists become sets and pairs as `Profile` has them.

    Raises:
        CatalogueError: no such quirk, or not its type.
    """
    found: dict[str, object] = {}
    for name, value in table.items():
        if name not in _QUIRKS:
            raise CatalogueError(f"{where}.{name}", f"no such quirk.{did_you_mean(name, _QUIRKS)}")
        plain = list(value.items()) if name == "effort_words" and isinstance(value, dict) else value
        try:
            found[name] = msgspec.convert(plain, _QUIRKS[name])
        except msgspec.ValidationError as error:
            raise CatalogueError(f"{where}.{name}", str(error)) from error
    return found


def override(model: Model, table: Mapping[str, object], where: str = "") -> Model:
    """`model` with what an operator's `[models.X]` table says of it.

    Reads `name`, `reasoning`, `context`, `max_output`, `input` and `price`; a price given replaces
    the whole price, dated changes included. Other keys are the caller's business.

    Raises:
        CatalogueError: with the path of the faulty value, after `where`.
    """

    def path(key: str) -> str:
        return f"{where}.{key}" if where else key

    changes: dict[str, Any] = {}
    if "name" in table:
        changes["name"] = str(table["name"])
    for key in ("context", "max_output"):
        if key in table:
            changes[key] = _tokens(table[key], path(key))
    if "input" in table:
        changes["input"] = _input_kinds(table["input"], path("input"))
    if "reasoning" in table:
        changes["reasoning"] = _reasoning(table["reasoning"], path("reasoning"))
    if "price" in table:
        changes["price"] = replace(parse_price(table["price"], path("price")), source="operator")
        changes["later"] = ()
    return replace(model, **changes)


def _tokens(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise CatalogueError(where, f"write a number of tokens above 0, not {value!r}")
    return value


def _input_kinds(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise CatalogueError(where, f"write a list of {', '.join(INPUT_KINDS)}, not {value!r}")
    for kind in value:
        if kind not in INPUT_KINDS:
            hint = did_you_mean(str(kind), INPUT_KINDS) or f" Known: {', '.join(INPUT_KINDS)}."
            raise CatalogueError(where, f"{kind!r} is no kind of input.{hint}")
    return tuple(kind for kind in INPUT_KINDS if kind in value)


def _reasoning(value: object, where: str) -> Reasoning | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise CatalogueError(where, 'write a table such as { levels = ["low", "high"] }')
    for key in value:
        if key not in ("levels", "default", "budget"):
            hint = did_you_mean(str(key), ("levels", "default", "budget"))
            raise CatalogueError(f"{where}.{key}", f"no such key.{hint}")
    levels = value.get("levels", ())
    if not isinstance(levels, Sequence) or isinstance(levels, str):
        raise CatalogueError(f"{where}.levels", f"write a list of levels, not {levels!r}")
    for level in levels:
        if level not in SCALE:
            raise CatalogueError(
                f"{where}.levels", f"{level!r} is no level. Known: {', '.join(SCALE)}."
            )
    default = value.get("default")
    if default is not None and default not in levels:
        raise CatalogueError(f"{where}.default", f"{default!r} is none of the levels")
    return Reasoning(
        levels=tuple(level for level in SCALE if level in levels),
        default=default,
        budget=_budget(value.get("budget"), f"{where}.budget"),
    )


def _budget(value: object, where: str) -> tuple[int, int] | None:
    if value is None:
        return None
    try:
        least, most = msgspec.convert(value, tuple[int, int])
    except msgspec.ValidationError as error:
        raise CatalogueError(where, str(error)) from error
    if not 0 <= least <= most:
        raise CatalogueError(where, "write the least and the most thinking tokens")
    return least, most
