"""From settings and catalogue to the routing table: which models are served, and by what routes.

A pure function of its arguments: the model lists of self-hosted servers come in as a mapping.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from zurelay.catalogue.load import Catalogue
from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.money import parse_factor
from zurelay.catalogue.price import laid_over
from zurelay.config.accounts import providers, serves_catalogue
from zurelay.config.models import RouteSetting
from zurelay.config.settings import ModelSettings, Settings
from zurelay.formats.registry import BACKS
from zurelay.meter.limits import Bound
from zurelay.plan.route import Auto, Route, RoutingTable, ServedModel, Stops, auto_id
from zurelay.providers.base import Kind, Provider

_SPOKEN = frozenset(back.name for back in BACKS)
"""Formats this release can speak upstream; entries that need another are not served."""


_NOTHING_STOPPED = Stops()

Prices = Mapping[str, Mapping[str, Price]]
"""Prices set at run time: public id -> first day in force, as `laid_over` takes them."""


def build_table(
    settings: Settings,
    catalogue: Catalogue,
    lists: Mapping[str, Sequence[str]],
    prices: Prices = MappingProxyType({}),
    stops: Stops = _NOTHING_STOPPED,
) -> RoutingTable:
    """Everything this gateway serves.

    Args:
        settings: checked settings.
        catalogue: what vendors offer.
        lists: provider name -> the model ids its own `/models` told, for providers whose kind
            `lists_models`. One that is missing serves nothing but what `[models.X] routes` names.
        prices: set at run time; the file's beat them, they beat the catalogue's.
        stops: models that keep no route, providers that none leads to, and routes by id.
    """
    by_name = {one.name: one for one in providers(settings)}
    offers = _offers(settings, catalogue, lists, by_name.values())
    served: dict[str, ServedModel] = {}
    for model_id in _ids(settings, offers):
        own = settings.models.get(model_id, ModelSettings())
        found = offers.get(model_id, [])
        if own.routes is None:
            routes = [Route("", 0, one, entry.upstream, model=entry) for one, entry in found]
        else:
            routes = [
                _written(one, by_name, model_id, catalogue)
                for one in own.routes
                if one.provider in by_name
            ]
        if not routes:
            continue
        base = _base(model_id, routes, catalogue)
        markup = settings.billing.markup if own.markup is None else own.markup
        terms = _Terms(own, prices.get(model_id, {}), parse_factor(markup))
        numbered = _numbered(_overridden_entry(route, base, terms) for route in routes)
        held = [(route, by) for route in numbered if (by := stops.of(model_id, route))]
        served[model_id] = ServedModel(
            model=terms.over(base),
            routes=tuple(route for route in numbered if stops.of(model_id, route) is None),
            fallbacks=own.fallbacks,
            bound=_bound(model_id, own),
            held=tuple(held),
        )
    return RoutingTable(
        {model_id: _standing(one, served) for model_id, one in served.items()},
        Auto(auto_id(settings.brand.wire), settings.auto.rules()),
    )


def _bound(model_id: str, own: ModelSettings) -> Bound | None:
    limits = own.limits
    if limits is None:
        return None
    return Bound(f"model:{model_id}", "model", limits.rpm, limits.tpm, limits.concurrency)


def _standing(one: ServedModel, served: Mapping[str, ServedModel]) -> ServedModel:
    """The model without fallbacks that nobody serves, such as those of a server that is away."""
    standing = tuple(other for other in one.fallbacks if other in served)
    return one if standing == one.fallbacks else replace(one, fallbacks=standing)


@dataclass(frozen=True, slots=True)
class _Terms:
    """What is laid over a model's entries: the file's word, prices set at run time, mark-up.

    `markup` is in millionths.
    """

    own: ModelSettings
    prices: Mapping[str, Price]
    markup: int

    def over(self, model: Model) -> Model:
        """The entry with all of it."""
        found = overridden(laid_over(model, self.prices), self.own)
        return found if self.markup == found.markup else replace(found, markup=self.markup)


def overridden(model: Model, own: ModelSettings) -> Model:
    """The model with what `[models.X]` says of it."""
    changes: dict[str, object] = {
        name: value
        for name in ("name", "reasoning", "context", "max_output", "input", "tools")
        if (value := getattr(own, name)) is not None
    }
    if own.price is not None:
        changes |= {"price": own.price, "later": ()}
    quirks = {**own.quirks, **({"auto_cache": True} if own.auto_cache else {})}
    if quirks:
        changes["quirks"] = {**model.quirks, **quirks}
    return replace(model, **changes) if changes else model  # type: ignore[arg-type]


_Offers = dict[str, list[tuple[Provider, Model]]]


def _offers(
    settings: Settings,
    catalogue: Catalogue,
    lists: Mapping[str, Sequence[str]],
    found: Iterable[Provider],
) -> _Offers:
    """Public id -> who serves it of their own accord, in file order."""
    offers: _Offers = {}
    for one in found:
        if not serves_catalogue(one.name, settings):
            continue
        if one.kind.lists_models:
            for model_id in dict.fromkeys(lists.get(one.name, ())):
                entry = _elsewhere(one.kind, model_id, model_id, catalogue)
                offers.setdefault(model_id, []).append((one, entry))
        elif one.kind.vendor is not None:
            for entry in catalogue.by_vendor.get(one.kind.vendor, ()):
                if (entry.format or one.kind.format) in _SPOKEN:
                    offers.setdefault(entry.id, []).append((one, entry))
    return offers


def _ids(settings: Settings, offers: _Offers) -> Iterable[str]:
    """Every public id: what providers offer in file order, then what only the file names."""
    return dict.fromkeys((*offers, *settings.models))


def _written(
    route: RouteSetting, by_name: Mapping[str, Provider], model_id: str, catalogue: Catalogue
) -> Route:
    """The route that an entry of `routes` stands for."""
    one = by_name[route.provider]
    entry = catalogue.entry(one.kind.vendor, model_id) if one.kind.vendor is not None else None
    if entry is None:
        entry = _elsewhere(one.kind, model_id, route.model or model_id, catalogue)
    upstream = route.model or entry.upstream
    return Route("", 0, one, upstream, route.priority, route.weight, entry)


def _elsewhere(kind: Kind, model_id: str, upstream: str, catalogue: Catalogue) -> Model:
    """A model where no catalogue lists it: its facts hold, its vendor's quirks mostly do not.

    They do where the kind runs that vendor's own deployments. A vendor's price holds at other
    hosts until the operator sets theirs; a server of one's own has none.
    """
    known = catalogue.by_id.get(model_id)
    if kind.runs_models_of is not None:
        own = catalogue.entry(kind.runs_models_of, model_id)
        if own is not None:
            spoken = kind.runs_in or own.format
            return replace(own, vendor="", upstream=upstream, format=spoken)
    if known is None:
        return Model(id=model_id, name=model_id, vendor="", upstream=upstream)
    found = replace(known, vendor="", upstream=upstream, format="", quirks={})
    return found if kind.hosted else replace(found, price=None, later=())


def _base(model_id: str, routes: Sequence[Route], catalogue: Catalogue) -> Model:
    """What is known of the model: the lab's own entry, else the first route's."""
    known = catalogue.by_id.get(model_id) or routes[0].model
    if known is None:
        return Model(id=model_id, name=model_id, vendor="", upstream=model_id)
    if all(route.model is not None and route.model.price is None for route in routes):
        return replace(known, price=None, later=())  # nobody here sells it
    return known


def _overridden_entry(route: Route, base: Model, terms: _Terms) -> Route:
    """The route with the operator's word over its own entry too; None where nothing differs."""
    if route.model is None or route.model == base:
        return replace(route, model=None)
    return replace(route, model=terms.over(route.model))


def _numbered(routes: Iterable[Route]) -> tuple[Route, ...]:
    """The routes with numbers from 1 and ids `provider:upstream_model`; a repeated one once."""
    by_id: dict[str, Route] = {}
    for route in routes:
        by_id.setdefault(f"{route.provider.name}:{route.upstream_model}", route)
    return tuple(
        replace(route, id=route_id, number=number)
        for number, (route_id, route) in enumerate(by_id.items(), start=1)
    )
