"""What a key may look up: models, itself, its account's requests."""

from urllib.parse import parse_qsl, unquote

from zurelay.access.keys import Key
from zurelay.access.view import key_view
from zurelay.api import answers
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.catalogue import view
from zurelay.chat import problems
from zurelay.chat.nearest import nearest
from zurelay.chat.problems import Refused
from zurelay.formats.base import Front
from zurelay.meter.quote import markup_of
from zurelay.meter.view import record_view
from zurelay.plan.auto.choose import Caller
from zurelay.plan.auto.listing import Listed, listed
from zurelay.plan.route import ServedModel


def models(core: Core, exchange: HttpExchange, _front: Front) -> None:
    """The models this key may use, in OpenAI's shape or Anthropic's."""
    key = core.authenticate(exchange)
    served = [m for m in core.snapshot.table.models.values() if key.may_use(m.model.id)]
    auto = _auto(core, key)
    if exchange.header(b"anthropic-version") is not None:
        query = dict(parse_qsl(exchange.query))
        try:
            models = [*([] if auto is None else [auto.model]), *(m.model for m in served)]
            page = view.messages_model_list(models, query)
        except view.PageError as error:
            raise Refused(problems.invalid_value(error.param, error.problem)) from error
        answers.send_json(exchange, page)
        return
    views = [_shown(core, m, key) for m in served]
    if auto is not None:
        views.insert(0, _auto_shown(core, auto, key))
    answers.send_json(exchange, view.model_list(views))


def model(core: Core, exchange: HttpExchange, _front: Front) -> None:
    """One model."""
    key = core.authenticate(exchange)
    name = unquote(exchange.path.removeprefix("/v1/models/"))
    table = core.snapshot.table
    messages = exchange.header(b"anthropic-version") is not None
    auto = _auto(core, key) if table.auto is not None and name == table.auto.id else None
    if auto is not None:
        shown = view.messages_model_view(auto.model) if messages else _auto_shown(core, auto, key)
        answers.send_json(exchange, shown)
        return
    served = table.find(name)
    if served is None or not key.may_use(served.model.id):
        known = [m for m in table.models if key.may_use(m)]
        raise Refused(problems.model_not_found(_printable(name), nearest(name, known)))
    if messages:
        answers.send_json(exchange, view.messages_model_view(served.model))
        return
    answers.send_json(exchange, _shown(core, served, key))


def key(core: Core, exchange: HttpExchange, front: Front) -> None:
    """The calling key: limits and what is left."""
    caller = core.authenticate(exchange)
    purse = core.purse(caller, core.parts.wall())

    async def look_up() -> None:
        try:
            spent, left = await core.parts.ledger.standing(caller.id, purse.wallets)
        except Refused as refused:
            answers.send_problem(exchange, front, refused.problem)
        else:
            answers.send_json(exchange, key_view(caller, spent, left))

    exchange.spawn(look_up())


def request(core: Core, exchange: HttpExchange, front: Front) -> None:
    """A request-log entry of the key's own account."""
    caller = core.authenticate(exchange)
    request_id = exchange.path.removeprefix("/v1/requests/")

    async def look_up() -> None:
        record = await core.parts.ledger.read(request_id, caller.account)
        if record is None:
            problem = problems.not_found(
                f"There is no request '{_printable(request_id)}' in this account."
            )
            answers.send_problem(exchange, front, problem)
            return
        answers.send_json(exchange, record_view(record, providers=core.exposes_routes))

    exchange.spawn(look_up())


def _shown(core: Core, served: ServedModel, caller: Key) -> view.Shape:
    """A model with the price that this caller pays."""
    health = core.parts.services.health
    now = core.loop.time()
    up = sum(1 for route in served.routes if health.is_up(route, now))
    return view.model_view(
        served.model,
        up,
        core.parts.wall(),
        owner=core.snapshot.wire,
        markup=markup_of(caller),
    )


def _auto(core: Core, caller: Key) -> Listed | None:
    """The smart choice, if this caller may have something chosen."""
    table = core.snapshot.table
    if table.auto is None:
        return None
    return listed(
        table,
        table.auto,
        Caller(caller.account, caller.may_use, caller),
        health=core.parts.services.health,
        now=core.loop.time(),
        at=core.parts.wall(),
    )


def _auto_shown(core: Core, auto: Listed, caller: Key) -> view.Shape:
    """The smart choice in OpenAI's shape, its price a range."""
    wire, now = core.snapshot.wire, core.parts.wall()
    shown = view.model_view(auto.model, auto.routes_up, now, owner=wire)
    markup = markup_of(caller)
    prices = ((price, own if markup is None else markup) for price, own in auto.prices)
    return shown | {"price": view.range_view(prices)}


def _printable(text: str) -> str:
    return "".join(c for c in text[:100] if c.isascii() and c.isprintable() and c != "'")
