"""The `Idempotency-Key` header: what it may be, and a repeat that is given the earlier answer."""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeGuard

from zurelay.access.keys import Key
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.chat import problems
from zurelay.chat.problems import INVALID, Problem, Refused
from zurelay.formats.base import Inbound
from zurelay.live.idempotency import Earlier, Use
from zurelay.live.shared_answers import Claim, Elsewhere
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
    _give(core, exchange, earlier)
    return True


def _give(core: Core, exchange: HttpExchange, earlier: Earlier) -> None:
    core.parts.metrics.repeated(running=earlier.running)
    own, first = exchange.request_id.encode("ascii"), earlier.request.encode("ascii")
    exchange.common_headers = [
        (name, first if value == own else value) for name, value in exchange.common_headers
    ]
    exchange.request_id = earlier.request
    earlier.attach(exchange)


def shared(use: Use | None, core: Core, key: Key, inbound: Inbound) -> TypeGuard[Use]:
    """Whether other nodes must be asked for the use before the request may go on."""
    if use is None or core.parts.answers is None:
        return False
    served = core.snapshot.table.find(inbound.model)
    return served is not None and key.may_use(served.model.id)


async def repeated_elsewhere(
    core: Core, exchange: HttpExchange, key: Key, inbound: Inbound, use: Use
) -> bool:
    """As `repeated`, among all nodes, waiting for one that runs. False: the use is ours now.

    Raises:
        Refused: as `SharedAnswers.claim`; 503 once every request is to end.
    """
    answers = core.parts.answers
    if answers is None:
        return False
    until = core.loop.time() + core.snapshot.timing.request_deadline_s
    own = exchange.request_id
    while True:
        found = await _waited(core, exchange, answers.claim(use, own, until - core.loop.time()))
        if found is Claim.OURS:
            return False
        if isinstance(found, Elsewhere):
            _give(core, exchange, core.parts.idempotency.adopt(use, found.request, found.answer))
            return True
        if repeated(core, exchange, key, inbound, use):
            return True


async def _waited(
    core: Core, exchange: HttpExchange, claim: Coroutine[Any, Any, Elsewhere | Claim]
) -> Elsewhere | Claim:
    """What the claim comes to, unless the process ends first."""
    task = asyncio.current_task()
    if task is None:
        return await claim
    core.waiting.add(task)
    try:
        return await claim
    except asyncio.CancelledError:
        if core.ending and not exchange.disconnected:
            raise Refused(problems.ending()) from None
        raise
    finally:
        core.waiting.discard(task)


def free(core: Core, use: Use | None) -> None:
    """A request with that use came to nothing before it was sent anywhere."""
    if use is not None and core.parts.answers is not None:
        core.parts.answers.free(use)


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
    answers = core.parts.answers
    if answers is not None:
        answers.began(use)
        record.repeat = hashlib.sha256(use.name + use.fingerprint).hexdigest()

    def done(run: Run) -> None:
        core.end(run)
        answer = store.settle(use, recording, keep=record.status == "ok")
        if answers is not None:
            answers.finish(use, answer)

    return recording, done
