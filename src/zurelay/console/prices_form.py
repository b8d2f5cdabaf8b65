"""A price as a form: its amounts, and rows for steps, service tiers and hours.

Fields are named by their place: `price.input`, `above.0.prompt_tokens`, `tiers.1.factor`,
`hours.0.utc`, `hours.0.above.2.output`. Works without scripts: a button adds or removes a row.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zurelay.catalogue.model import Price
from zurelay.catalogue.money import format_usd
from zurelay.catalogue.price import CALLS, CLASSES, CatalogueError, parse_price
from zurelay.catalogue.written import utc_text
from zurelay.chat.problems import Refused
from zurelay.chat.usage import Usage
from zurelay.console.languages import N_
from zurelay.console.page import Form, Visit
from zurelay.meter.charge import charge

MOST_ROWS: Final = 20
"""Of each kind."""

SAMPLED: Final = 1000
"""Tokens of prompt and of answer that are worked out as an example."""

_AMOUNT = N_("Write dollars, such as 4 or 0.25.")
_NEEDED = N_("Write dollars, such as 4 or 0.25; a price has input and output at least.")
FAULTS: Final = {
    "prompt_tokens": N_("Write a number of tokens, such as 200000."),
    "name": N_("Write the tier's name, such as flex."),
    "factor": N_("Write a factor, such as 0.5 or 2."),
    "exact": N_("Times this factor the price is not exact: write fewer digits."),
    "utc": N_("Write days and times in UTC, such as Mon-Fri 01:00-04:00."),
    "above": N_("Two steps begin at the same number of tokens."),
    "input": _NEEDED,
    "output": _NEEDED,
}
_PLACE = re.compile(r"\[(\d+)\]")
_BEGINS = {"above": ("prompt_tokens",), "tiers": ("name", "factor"), "hours": ("utc",)}


@dataclass(slots=True)
class Step:
    """A row of `above`; `at` is where its fields are, such as `above.0`."""

    at: str


@dataclass(slots=True)
class Stretch:
    """A row of `hours`, with its own steps."""

    at: str
    above: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Example:
    """What a request would cost: when, with how many tokens, in dollars, plain and marked up."""

    kind: str
    name: str
    prompt: int
    plain: str
    paid: str


def rows_of(form: Form, kind: str, within: str = "") -> list[str]:
    """Where the rows of a kind are, in order."""
    begin = f"{within}{kind}."
    found = {
        int(number)
        for name in form.names
        if name.startswith(begin)
        and (number := name.removeprefix(begin).partition(".")[0]).isdecimal()
        and len(number) < 4
    }
    return [f"{begin}{number}" for number in sorted(found)[:MOST_ROWS]]


def steps(form: Form, within: str = "") -> list[Step]:
    """The rows of `above`."""
    return [Step(at) for at in rows_of(form, "above", within)]


def stretches(form: Form) -> list[Stretch]:
    """The rows of `hours`."""
    return [Stretch(at, steps(form, f"{at}.")) for at in rows_of(form, "hours")]


def filled(model: str, table: Mapping[str, Any] | str | None, since: str = "") -> Form:
    """A form that shows a price as it is written."""
    fields: dict[str, object] = {"model": model, "since": since}
    if table == "free":
        fields["free"] = "yes"
    elif isinstance(table, Mapping):
        names = (*CLASSES, "per_request")
        fields |= {f"price.{name}": table[name] for name in names if name in table}
        for name, fee in table.get("per_call", {}).items():
            fields[f"price.per_call.{name}"] = fee
        fields |= _filled_steps(table, "")
        for number, (name, factor) in enumerate(table.get("tiers", {}).items()):
            fields |= {f"tiers.{number}.name": name, f"tiers.{number}.factor": factor}
        for number, then in enumerate(table.get("hours", ())):
            at = f"hours.{number}"
            fields[f"{at}.utc"] = ", ".join(then["utc"])
            fields |= {f"{at}.{name}": then[name] for name in CLASSES if name in then}
            fields |= _filled_steps(then, f"{at}.")
    return Form.of(**fields)


def changed(form: Form, wanted: str) -> Form:
    """The form with a row more or less: `add above`, `add hours.0.above`, `remove tiers.1`."""
    what, _, where = wanted.partition(" ")
    kept = {name: form.all(name)[:1] or [""] for name in form.names if name != "do"}
    if what == "remove":
        kept = {name: value for name, value in kept.items() if not name.startswith(f"{where}.")}
    kind = where.rpartition(".")[2]
    if what == "add" and kind in _BEGINS:
        within = where.removesuffix(kind)
        known = rows_of(form, kind, within)
        number = int(known[-1].rpartition(".")[2]) + 1 if known else 0
        if len(known) < MOST_ROWS:
            kept |= {f"{where}.{number}.{name}": [""] for name in _BEGINS[kind]}
    return Form(kept)


def tidied(form: Form) -> Form:
    """The form without empty rows, the others numbered from 0, steps in order of their size."""
    kept = {
        name: [form.get(name)]
        for name in form.names
        if name.partition(".")[0] not in _BEGINS and name != "do"
    }
    for old, new in _renumbered(form):
        begin = f"{old}."
        kept |= {
            f"{new}.{name.removeprefix(begin)}": [form.get(name)]
            for name in form.names
            if name.startswith(begin) and not name.startswith(f"{begin}above.")
        }
    return Form(kept)


def written(form: Form) -> dict[str, Any] | str:
    """The price that a tidied form tells, as `parse_price` takes it."""
    if form.get("free"):
        return "free"
    table = _amounts(form, "price", (*CLASSES, "per_request"))
    if fees := _amounts(form, "price.per_call", CALLS):
        table["per_call"] = fees
    table |= _steps(form, "")
    if tiers := rows_of(form, "tiers"):
        table["tiers"] = {form.get(f"{at}.name"): form.decimal(f"{at}.factor") for at in tiers}
    if hours := rows_of(form, "hours"):
        table["hours"] = [
            {
                "utc": [one.strip() for one in form.get(f"{at}.utc").split(",") if one.strip()],
                **_amounts(form, at, CLASSES),
                **_steps(form, f"{at}."),
            }
            for at in hours
        ]
    return table


def unnamed(visit: Visit, form: Form) -> bool:
    """Whether a service tier has no name; says so beside it."""
    found = [at for at in rows_of(form, "tiers") if not form.get(f"{at}.name")]
    form.faults |= {f"{at}.name": visit.gettext(FAULTS["name"]) for at in found}
    return bool(found)


def explained(visit: Visit, form: Form, refused: Refused) -> Form:
    """The form with what was refused said at its field, in the person's language."""
    problem = refused.problem
    place = _PLACE.sub(r".\1", problem.param or "")
    first, _, rest = place.partition(".")
    name = rest if first == "price" and rest.partition(".")[0] in _BEGINS else place
    last = name.rpartition(".")[2]
    _, of_tier, wanted = f".{name}".partition(".tiers.")
    if of_tier:
        at = next((at for at in rows_of(form, "tiers") if form.get(f"{at}.name") == wanted), "")
        name, last = f"{at}.factor", "exact" if "exact" in problem.message else "factor"
    said = visit.gettext(FAULTS.get(last, _AMOUNT))
    form.faults[name] = said
    return form


def examples(price: Price, markup: int) -> Iterator[Example]:
    """What a request of `SAMPLED` and `SAMPLED` tokens costs, wherever the price differs."""
    yield _example("", "", price, SAMPLED, markup)
    yield from _longer("", "", price, markup)
    for name in price.tiers:
        yield _example("tier", name, price, SAMPLED, markup, name)
    for when, then in price.hours:
        told = ", ".join(utc_text(when))
        yield _example("hours", told, then, SAMPLED, markup)
        yield from _longer("hours", told, then, markup)


def readable(form: Form) -> Price | None:
    """The price that a form tells, if it can be one."""
    try:
        return parse_price(written(tidied(form)))
    except CatalogueError:
        return None


# Our own.


def _filled_steps(table: Mapping[str, Any], within: str) -> dict[str, object]:
    fields: dict[str, object] = {}
    for number, step in enumerate(table.get("above", ())):
        at = f"{within}above.{number}"
        names = ("prompt_tokens", *CLASSES)
        fields |= {f"{at}.{name}": step[name] for name in names if name in step}
    return fields


def _renumbered(form: Form) -> Iterator[tuple[str, str]]:
    """Where each row that is not empty was, and where it belongs."""
    yield from _sorted_steps(form, "", "")
    for kind in ("tiers", "hours"):
        full = [at for at in rows_of(form, kind) if _said(form, at)]
        for number, at in enumerate(full):
            yield at, f"{kind}.{number}"
            if kind == "hours":
                yield from _sorted_steps(form, f"{at}.", f"{kind}.{number}.")


def _sorted_steps(form: Form, within: str, to: str) -> Iterator[tuple[str, str]]:
    full = [at for at in rows_of(form, "above", within) if _said(form, at)]
    full.sort(key=lambda at: _tokens(form, at) if isinstance(_tokens(form, at), int) else 0)
    for number, at in enumerate(full):
        yield at, f"{to}above.{number}"


def _said(form: Form, at: str) -> bool:
    return any(form.get(name) for name in form.names if name.startswith(f"{at}."))


def _tokens(form: Form, at: str) -> Any:
    """A row's number of tokens, as text where it is none."""
    text = form.whole(f"{at}.prompt_tokens")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else text


def _amounts(form: Form, at: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: amount for name in names if (amount := form.dollars(f"{at}.{name}"))}


def _steps(form: Form, within: str) -> dict[str, Any]:
    found = [
        {"prompt_tokens": _tokens(form, at), **_amounts(form, at, CLASSES)}
        for at in rows_of(form, "above", within)
    ]
    return {"above": found} if found else {}


def _longer(kind: str, name: str, price: Price, markup: int) -> Iterator[Example]:
    for tokens, _ in price.above:
        yield _example(kind, name, price, tokens + 1, markup)


def _example(
    kind: str, name: str, price: Price, prompt: int, markup: int, tier: str | None = None
) -> Example:
    found = charge(price, Usage(input=prompt, output=SAMPLED, tier=tier), markup)
    return Example(kind, name, prompt, format_usd(found.upstream), format_usd(found.cost))
