"""For machines that watch this one: alive, ready, metrics."""

from zurelay.api import answers
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.chat.problems import Refused
from zurelay.formats.base import Front

_LOOPBACK = ("127.", "::1", "::ffff:127.")
_METRICS_TYPE = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")


def alive(_core: Core, exchange: HttpExchange, _front: Front) -> None:
    """The process is up. Asks nothing of store or upstreams."""
    answers.send_json(exchange, {"status": "ok"})


def ready(core: Core, exchange: HttpExchange, _front: Front) -> None:
    """Whether requests can be served; 503 while draining or when nothing could be logged."""
    state = core.parts.ready()
    if core.draining:
        state = {**state, "status": "draining"}
    status = 200 if state["status"] in ("ok", "degraded") else 503
    answers.send_json(exchange, state, status)


def metrics(core: Core, exchange: HttpExchange, front: Front) -> None:
    """Prometheus text, to loopback or to an admin token."""
    if _on_loopback(exchange) and core.parts.scrape is None:
        exchange.answer(200, [_METRICS_TYPE], core.parts.metrics.render())
    else:
        exchange.spawn(_scrape(core, exchange, front))


async def _scrape(core: Core, exchange: HttpExchange, front: Front) -> None:
    if not _on_loopback(exchange):
        try:
            await core.parts.tokens.identify(exchange.headers, exchange.method)
        except Refused as refused:
            answers.send_problem(exchange, front, refused.problem)
            return
    others = core.parts.scrape
    text = core.parts.metrics.render() if others is None else await others()
    exchange.answer(200, [_METRICS_TYPE], text)


def _on_loopback(exchange: HttpExchange) -> bool:
    """Whether this machine asks, and not a proxy on it for somebody else."""
    if exchange.header(b"x-forwarded-for") or exchange.header(b"forwarded"):
        return False
    return exchange.client_host.startswith(_LOOPBACK)
