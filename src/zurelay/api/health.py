"""For machines that watch this one: alive, ready, metrics."""

from zurelay.api import answers
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.chat import problems
from zurelay.formats.base import Front

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
    """Prometheus text, to loopback or an admin."""
    if not core.parts.admits_metrics(exchange):
        problem = problems.Problem(
            403, "permission_error", "not_allowed", "Metrics are served to loopback only."
        )
        answers.send_problem(exchange, front, problem)
        return
    exchange.answer(200, [_METRICS_TYPE], core.parts.metrics.render())
