"""The `Idempotency-Key` header: what it may be, and a repeat that is given the earlier answer."""

from collections.abc import Callable

from zurelay.access.keys import Key
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.chat.problems import INVALID, Problem, Refused
from zurelay.formats.base import Inbound
from zurelay.live.idempotency import Use
from zurelay.meter.record import RequestRecord
from zurelay.relay.ports import Sink
from zurelay.relay.runner import Run

_LONGEST = 255
_VISIBLE = frozenset(range(0x21, 0x7F))


def read(core: Core, exchange: HttpExchange, key: Key, inbound: Inbound) -> Use | None:
    """What the header names; None without it.

    Raises:
        Refused: 400 for what is no `Idempotency-Key`.
    """
    value = exchange.header(b"idempotency-key")
    if value is None:
        return None
    if not 0 < len(value) <= _LONGEST or not _VISIBLE.issuperset(value):
        message = "The header 'Idempotency-Key' takes 1 to 255 visible ASCII characters."
        raise Refused(Problem(400, INVALID, "invalid_value", message))
    parts: list[bytes | memoryview] = [exchange.path.encode()]
    for name, text in inbound.body.items():
        parts += (name.encode("utf-8", "surrogatepass"), memoryview(text))
    return core.parts.idempotency.use(key.account, value.decode("ascii"), parts)


def repeated(core: Core, exchange: HttpExchange, key: Key, inbound: Inbound, use: Use) -> bool:
    """Give the exchange the answer of an earlier request like this one; False if there was none.

    A repeat is the same request: it is answered under the first one's id, has no log row of its
    own, and costs nothing.

    Raises:
        Refused: as `Idempotency.find`.
    """
    served = core.snapshot.table.find(inbound.model)
    if served is not None and not key.may_use(served.model.id):
        return False  # another key of the account, which may not see this: the plan refuses it
    earlier = core.parts.idempotency.find(use)
    if earlier is None:
        return False
    core.parts.metrics.repeated(running=earlier.running)
    own, first = exchange.request_id.encode("ascii"), earlier.request.encode("ascii")
    exchange.common_headers = [
        (name, first if value == own else value) for name, value in exchange.common_headers
    ]
    exchange.request_id = earlier.request
    earlier.attach(exchange)
    return True


def recorded(
    core: Core, exchange: HttpExchange, record: RequestRecord, use: Use | None
) -> tuple[Sink, Callable[[Run], None]]:
    """Where a new run writes to, and what is told when it is over.

    Without the header that is the exchange itself. With it the run goes on when the caller leaves,
    and its answer is kept unless it is an error.
    """
    if use is None:
        return exchange, core.end
    store = core.parts.idempotency
    recording = store.begin(use, record.id)
    recording.attach(exchange)

    def done(run: Run) -> None:
        core.end(run)
        store.settle(use, recording, keep=record.status == "ok")

    return recording, done
