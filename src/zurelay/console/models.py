"""Models: what this gateway serves, compared, and each with all that is known of it.

Shows what callers may know: prices as they pay them, never a provider or its own name for a model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.money import parse_factor
from zurelay.catalogue.price import price_at
from zurelay.catalogue.view import model_view, price_view, range_view
from zurelay.chat.problems import Problem, Refused
from zurelay.console.languages import N_
from zurelay.console.page import SIGNED_IN, Form, Html, Page, Reply, Visit
from zurelay.console.parts import ConsoleParts
from zurelay.console.snippets import embedding_samples, samples
from zurelay.office import stops
from zurelay.office.sessions import accounts_of
from zurelay.office.speeds import Speed, speeds
from zurelay.plan.auto.choose import Caller
from zurelay.plan.auto.listing import listed
from zurelay.plan.route import Auto, RoutingTable

HOME: Final = "/console/models"
ROWS: Final = 60
"""Models on a page of the table."""

KINDS: Final = {
    "text": N_("text"),
    "image": N_("images"),
    "pdf": N_("PDF"),
    "audio": N_("audio"),
    "video": N_("video"),
}
ORDERS: Final = {
    "": N_("as configured"),
    "name": N_("by name"),
    "input": N_("input price"),
    "output": N_("output price"),
    "context": N_("largest window"),
    "first": N_("soonest first token"),
    "speed": N_("fastest"),
}
CLASSES: Final = {
    "input": N_("Input"),
    "cached_input": N_("Cached input"),
    "cache_write": N_("Written to the cache"),
    "cache_write_long": N_("Written to the cache for an hour"),
    "audio_input": N_("Audio input"),
    "image_input": N_("Image input"),
    "output": N_("Output"),
    "audio_output": N_("Audio output"),
    "image_output": N_("Image output"),
}
FEES: Final = {"web_search": N_("A web search by the provider")}


@dataclass(frozen=True, slots=True)
class Offer:
    """A model as it stands now.

    Attributes:
        first_token_ms: as this process measured it on all traffic.
        choice: of the smart choice: the price of each model it chooses from, and its mark-up.
    """

    model: Model
    routes: int
    routes_up: int
    first_token_ms: float | None
    choice: tuple[tuple[Price, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """An offer with what it costs whoever looks, and how fast it was for them.

    Attributes:
        amounts: price by class; of the smart choice the least, and `most` the most.
    """

    offer: Offer
    view: Mapping[str, Any]
    speed: Speed | None
    amounts: Mapping[str, str]
    most: Mapping[str, str] | None = None

    @property
    def id(self) -> str:
        """The public id."""
        return self.offer.model.id

    @property
    def first_token_ms(self) -> float | None:
        """As measured by the gateway, else as their own requests had it."""
        if self.offer.first_token_ms is not None:
            return self.offer.first_token_ms
        return None if self.speed is None else self.speed.first_token_ms

    @property
    def tokens_per_s(self) -> float | None:
        """Of their own requests."""
        return None if self.speed is None else self.speed.tokens_per_s


def offers(parts: ConsoleParts) -> list[Offer]:
    """Every model that is served, the smart choice first; to be called on the event loop."""
    now, table = parts.now(), parts.table()
    found = [] if table.auto is None else _smart(parts, table, table.auto)
    for served in table.models.values():
        first = [parts.health.first_token(route) for route in served.routes]
        known = [seconds * 1000 for seconds in first if seconds is not None]
        up = sum(parts.health.is_up(route, now) for route in served.routes)
        found.append(Offer(served.model, len(served.routes), up, min(known, default=None)))
    return found


def _smart(parts: ConsoleParts, table: RoutingTable, auto: Auto) -> list[Offer]:
    anybody = Caller("", lambda _model: True)
    one = listed(table, auto, anybody, health=parts.health, now=parts.now(), at=parts.wall())
    if one is None:
        return []
    return [Offer(one.model, one.routes_up, one.routes_up, None, one.prices)]


def index(visit: Visit) -> Reply:
    """The table, narrowed and ordered as the query says."""
    names = ("q", "kind", "reasoning", "vendor", "sort")
    chosen = {name: visit.query.get(name, "") for name in names}
    rows = _rows(visit)
    vendors = sorted({row.offer.model.vendor for row in rows if row.offer.model.vendor})
    found = _sorted([row for row in rows if _passes(row, chosen)], chosen["sort"])
    start = visit.start
    given = {name: value for name, value in chosen.items() if value}
    following = start + ROWS
    return Html(
        "models.html",
        {
            "form": Form.of(**chosen),
            "rows": found[start:following],
            "count": len(found),
            "served": len(rows),
            "vendors": vendors,
            "kinds": KINDS,
            "orders": ORDERS,
            "filtered": any(name != "sort" for name in given),
            "more": f"{HOME}?{urlencode(given | {'from': following})}"
            if following < len(found)
            else None,
        },
    )


def show(visit: Visit) -> Reply:
    """One model. Raises Refused: 404."""
    wanted = visit.path["model"]
    row = next((one for one in _rows(visit) if one.id == wanted), None)
    if row is None:
        raise Refused(Problem(404, "invalid_request_error", "not_found", "", None))
    return Html(
        "models_one.html",
        {
            "row": row,
            "model": row.offer.model,
            "kinds": KINDS,
            "classes": CLASSES,
            "fees": FEES,
            "tables": _tables(visit, row),
            "later": _later(visit, row.offer.model),
            "samples": _samples(visit, row),
            "stopped": _stopped(visit, row.id),
        },
    )


def _samples(visit: Visit, row: Row) -> list[tuple[str, str]]:
    """Programs that ask it for what it gives."""
    of_mode = embedding_samples if row.offer.model.mode == "embeddings" else samples
    return of_mode(visit.parts.base_url(), row.id)


def _stopped(visit: Visit, model: str) -> bool:
    """Whether it is stopped, for those who may know."""
    if not visit.actor.may("stops.read"):
        return False
    found = stops.list_stops(visit.parts.desk, visit.actor)
    return any((one.kind, one.name) == ("model", model) for one in found)


def _rows(visit: Visit) -> list[Row]:
    desk, wall = visit.parts.desk, visit.parts.wall()
    fast = speeds(desk, visit.actor, visit.account)
    factor = _markup(visit)
    rows = []
    for offer in visit.gathered:
        view = model_view(offer.model, offer.routes_up, wall, "", factor)
        if offer.choice is not None:
            rows.append(_chosen(offer, view, fast.get(offer.model.id), factor))
            continue
        price = view["price"] or {}
        amounts = {name: price[name] for name in CLASSES if name in price}
        rows.append(Row(offer, view, fast.get(offer.model.id), amounts))
    return rows


def _chosen(offer: Offer, view: Mapping[str, Any], speed: Speed | None, factor: int | None) -> Row:
    """The smart choice costs what the model costs that is chosen."""
    prices = offer.choice or ()
    found = range_view((price, own if factor is None else factor) for price, own in prices)
    if found is None:
        return Row(offer, view, speed, {})
    return Row(offer, view, speed, found["from"], found["to"])


def _markup(visit: Visit) -> int | None:
    """That of the account that is looked at, in millionths; None where each model's own holds."""
    if visit.visitor is None or visit.account is None:
        return None
    known = accounts_of(visit.parts.desk, visit.visitor)
    text = next((one.markup for one in known if one.id == visit.account), None)
    return None if text is None else parse_factor(text)


def _passes(row: Row, chosen: Mapping[str, str]) -> bool:
    model = row.offer.model
    words = f"{model.id} {model.name} {model.vendor}".lower()
    levels = model.reasoning.levels if model.reasoning is not None else ()
    return (
        all(word in words for word in chosen["q"].lower().split())
        and (chosen["kind"] not in KINDS or chosen["kind"] in model.input)
        and (chosen["vendor"] in ("", model.vendor))
        and (chosen["reasoning"] != "yes" or bool(levels))
        and (chosen["reasoning"] != "no" or not levels)
    )


def _sorted(rows: list[Row], order: str) -> list[Row]:
    """In that order; what is not known comes last."""
    values: Mapping[str, Callable[[Row], float | str | None]] = {
        "name": lambda row: row.offer.model.name.lower(),
        "input": lambda row: _amount(row, "input"),
        "output": lambda row: _amount(row, "output"),
        "context": lambda row: -row.offer.model.context if row.offer.model.context else None,
        "first": lambda row: row.first_token_ms,
        "speed": lambda row: -row.tokens_per_s if row.tokens_per_s else None,
    }
    value = values.get(order)
    if value is None:
        return rows
    known = [(found, row) for row in rows if (found := value(row)) is not None]
    known.sort(key=lambda one: one[0])
    return [row for _, row in known] + [row for row in rows if value(row) is None]


def _amount(row: Row, name: str) -> float | None:
    return float(row.amounts[name]) if name in row.amounts else None


def _tables(visit: Visit, row: Row) -> list[tuple[str, Mapping[str, str]]]:
    """Prices per class, each with what they hold for: all, long prompts, service tiers."""
    price = row.view["price"]
    if row.most is not None:
        return [(visit.gettext("at least"), row.amounts), (visit.gettext("at most"), row.most)]
    if price is None:
        return []
    found = [("", row.amounts), *_steps(visit, price)]
    for name, tier in price.get("tiers", {}).items():
        found.append((visit.gettext("service tier %(name)s", name=name), tier))
        found += [
            (f"{visit.gettext('service tier %(name)s', name=name)}, {told}", over)
            for told, over in _steps(visit, tier)
        ]
    return found


def _steps(visit: Visit, price: Mapping[str, Any]) -> list[tuple[str, Mapping[str, str]]]:
    return [
        (
            visit.gettext(
                "prompts above %(count)s tokens",
                count=visit.language.number(step["prompt_tokens"]),
            ),
            step,
        )
        for step in price.get("above", ())
    ]


def _later(visit: Visit, model: Model) -> list[tuple[str, Mapping[str, Any]]]:
    """Prices that are not in force yet, by their first day."""
    if (now := price_at(model, visit.parts.wall())) is None:
        return []
    factor = _markup(visit)
    return [
        (price.since, price_view(price, model.markup if factor is None else factor))
        for price in model.later
        if price.since > now.since
    ]


PAGES = (
    Page("GET", HOME, SIGNED_IN, index, offers),
    Page("GET", f"{HOME}/{{model:rest}}", SIGNED_IN, show, offers),
)
