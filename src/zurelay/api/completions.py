"""The path of a model request: key, body, plan, admission, relay.

The same for every front format; what differs between them is in `formats`.
"""

import asyncio
import hashlib
from collections.abc import Callable
from functools import partial

import msgspec
import structlog

from zurelay.access.keys import Key, hash_key, parse_authorization
from zurelay.api import admission, answers, idempotency, offload
from zurelay.api.admission import Admitted, Asking
from zurelay.api.core import Core
from zurelay.api.exchange import HttpExchange
from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.formats.base import Front, Inbound
from zurelay.live.contents import Capture
from zurelay.live.idempotency import Use
from zurelay.live.limits import UNLIMITED
from zurelay.meter.limits import Grant
from zurelay.meter.record import RequestRecord
from zurelay.relay.job import Job
from zurelay.relay.runner import Run

log = structlog.get_logger("zurelay.api")

_CLIENT_LENGTH = 200
_CLIENT_ID_LENGTH = 512


def serve(core: Core, exchange: HttpExchange, front: Front) -> None:
    """Answer a request for a model's answer."""
    serve_for(core, exchange, front, core.authenticate(exchange))


def serve_for(core: Core, exchange: HttpExchange, front: Front, key: Key) -> None:
    """As `serve`, for a caller who is known."""
    record = _record(core, exchange, key)
    body = exchange.take_body()
    encoding = (exchange.header(b"content-encoding") or b"").decode("latin-1")
    capture = None if key.store_days is None else _capture(core, front, key, body, encoding)
    try:
        plain = offload.open_here(body, encoding, core.snapshot.max_body)
        if plain is None:
            work = _serve_heavy(core, exchange, front, key, record, body, encoding, capture)
            exchange.spawn(work)
        else:
            _admit(core, exchange, front, key, record, front.read(plain), capture)
    except Exception as error:  # noqa: BLE001 - is told and logged
        _failed(core, exchange, front, record, error, capture)


async def _serve_heavy(
    core: Core,
    exchange: HttpExchange,
    front: Front,
    key: Key,
    record: RequestRecord,
    body: bytes,
    encoding: str,
    capture: Capture | None,
) -> None:
    """As `serve`, with the body read in another process."""
    limit = core.snapshot.max_body
    try:
        inbound = await core.parts.reader.read(front.name, body, encoding, limit)
        _admit(core, exchange, front, key, record, inbound, capture)
    except asyncio.CancelledError:  # the caller left
        _left(core, record, capture)
        raise
    except Exception as error:  # noqa: BLE001 - is told and logged
        _failed(core, exchange, front, record, error, capture)


def _failed(
    core: Core,
    exchange: HttpExchange,
    front: Front,
    record: RequestRecord,
    error: Exception,
    capture: Capture | None,
) -> None:
    """Whatever went wrong becomes an answer and a log row."""
    if isinstance(error, Refused):
        problem = error.problem
    else:
        log.error("request_failed", request_id=record.id, exc_info=error)
        problem = problems.internal()
    _refuse(core, exchange, front, record, problem, capture=capture)


class _Request(msgspec.Struct):
    """A request that was read and may be let in.

    `use`: of its Idempotency-Key, if it has one. `capture`: takes it down, if it is stored.
    """

    core: Core
    exchange: HttpExchange
    front: Front
    key: Key
    record: RequestRecord
    inbound: Inbound
    use: Use | None
    capture: Capture | None


class _Freeing:
    """Whatever goes wrong inside, the next request may have the use of the Idempotency-Key."""

    __slots__ = ("_request",)

    def __init__(self, request: _Request) -> None:
        self._request = request

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            idempotency.free(self._request.core, self._request.use)


def _admit(
    core: Core,
    exchange: HttpExchange,
    front: Front,
    key: Key,
    record: RequestRecord,
    inbound: Inbound,
    capture: Capture | None,
) -> None:
    """Plan, set aside, and hand the request to the relay; later, if the store must be asked."""
    if front.headers:
        inbound = msgspec.structs.replace(inbound, headers=answers.kept_headers(exchange, front))
    _describe(record, inbound)
    use = idempotency.read(core, exchange, key, inbound)
    request = _Request(core, exchange, front, key, record, inbound, use, capture)
    if use is None:
        _let_in(request)
    elif not _repeated(request):
        if idempotency.shared(use, core, key, inbound):
            exchange.spawn(_let_in_once(request, use))
        else:
            _let_in(request)


async def _let_in_once(request: _Request, use: Use) -> None:
    """As `_let_in`, unless another node has had the same request."""
    core, exchange, record = request.core, request.exchange, request.record
    try:
        if await idempotency.repeated_elsewhere(core, exchange, request.key, request.inbound, use):
            return
        with _Freeing(request):
            _let_in(request)
    except asyncio.CancelledError:  # the caller left
        _left(core, record, request.capture)
        raise
    except Exception as error:  # noqa: BLE001 - is told and logged
        _failed(core, exchange, request.front, record, error, request.capture)


def _let_in(request: _Request) -> None:
    core, exchange, key, record, inbound = (
        request.core,
        request.exchange,
        request.key,
        request.record,
        request.inbound,
    )
    if inbound.stream and core.streams >= core.snapshot.max_streams:
        raise Refused(problems.overloaded_here("The gateway has no room for another stream."))
    plan = core.plan(inbound, key)
    record.auto = plan.auto
    asking = admission.asking(core, key, inbound, plan, record.created)
    admitted = admission.admit_now(asking)
    if admitted is None:
        exchange.spawn(_admit_later(request, asking))
    else:
        _relay(request, admitted)


async def _admit_later(request: _Request, asking: Asking) -> None:
    core, record, capture = request.core, request.record, request.capture
    try:
        with _Freeing(request):
            admitted = await admission.admit(asking)
            _relay_unless_repeated(request, admitted)
    except asyncio.CancelledError:  # the caller left
        _left(core, record, capture)
        raise
    except Exception as error:  # noqa: BLE001 - is told and logged
        _failed(core, request.exchange, request.front, record, error, capture)


def _relay_unless_repeated(request: _Request, admitted: Admitted) -> None:
    core = request.core
    try:
        joined = _repeated(request)
    except Refused:
        admission.release(core, admitted)
        raise
    if joined:
        idempotency.free(core, request.use)
        admission.release(core, admitted)
    else:
        _relay(request, admitted)


def _repeated(request: _Request) -> bool:
    """Whether the answer of an earlier request like this one was given."""
    use = request.use
    return use is not None and idempotency.repeated(
        request.core, request.exchange, request.key, request.inbound, use
    )


def _relay(request: _Request, admitted: Admitted) -> None:
    core = request.core
    try:
        run = _run(request, admitted)
    except BaseException:
        admission.release(core, admitted)
        raise
    core.begin(run)
    run.start()


def _run(request: _Request, admitted: Admitted) -> Run:
    core, exchange, record, inbound = (
        request.core,
        request.exchange,
        request.record,
        request.inbound,
    )
    snapshot = core.snapshot
    plan = admitted.plan
    job = Job(
        inbound=inbound,
        front=request.front,
        plan=plan,
        record=record,
        hold=admitted.hold,
        timing=snapshot.timing,
        answer_id=core.parts.ids.answer(record.id, request.front.answer_prefix),
        created=int(record.created),
        started=exchange.started,
        connect_deadline=snapshot.connect_deadline_s,
        redact=snapshot.redact,
        cache_key=_own_cache_key(request.key.account, inbound.cache_key),
        # Where there is no choice of route there is nothing to remember.
        affinity_key=plan.conversation if len(plan.candidates) > 1 else None,
        expose_routes=core.exposes_routes,
        comments_end_once=exchange.header(b"x-stainless-lang") == b"go",
        markup=admitted.markup,
    )
    core.parts.ledger.begin(record)
    sink, done = idempotency.recorded(core, exchange, record, request.use)
    grant = admitted.grant
    if grant.tells:
        exchange.at_head = lambda: grant.headers(core.parts.wall())
    if grant is not UNLIMITED:
        done = _counted(done, grant, record)
    if request.capture is not None:
        sink = request.capture.between(sink)
        done = _captured(done, request.capture, record)
    return Run(job, core.parts.services, sink, core.loop, snapshot.wire, done)


def _counted(
    done: Callable[[Run], None], grant: Grant, record: RequestRecord
) -> Callable[[Run], None]:
    """As `done`, and limits are told what was used."""

    def ended(run: Run) -> None:
        grant.end(0 if record.usage is None else record.usage.total)
        done(run)

    return ended


def _captured(
    done: Callable[[Run], None], capture: Capture, record: RequestRecord
) -> Callable[[Run], None]:
    """As `done`, and what was asked and answered is stored."""

    def ended(run: Run) -> None:
        capture.end(record)
        done(run)

    return ended


def _own_cache_key(account: str, key: str | None) -> str | None:
    """A prompt-cache key that no other account can meet; 32 characters, the same each time."""
    if key is None:
        return None
    return hashlib.sha256(f"{account}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def refuse_early(core: Core, exchange: HttpExchange, front: Front, problem: Problem) -> None:
    """Refuse a request whose body was not read."""
    key = _known_key(core, exchange)
    if key is None:
        answers.send_problem(exchange, front, problem)
        return
    # Whoever is refused unread is still sending, and must hear of it at once.
    _refuse(core, exchange, front, _record(core, exchange, key), problem, wait=False)


def abandoned(core: Core, exchange: HttpExchange) -> None:
    """The log row of a request whose caller left before its body was whole."""
    key = _known_key(core, exchange)
    if key is not None:
        _left(core, _record(core, exchange, key))


def _capture(core: Core, front: Front, key: Key, body: bytes, encoding: str) -> Capture | None:
    """What takes down a request of a key whose messages are stored."""
    contents = core.parts.contents
    return None if contents is None else contents.begin(key, front.name, body, encoding)


def _known_key(core: Core, exchange: HttpExchange) -> Key | None:
    """The live key that the call shows, if it is in memory; nothing is counted."""
    try:
        key = core.parts.keys.find(hash_key(parse_authorization(exchange.headers)))
    except Refused:
        return None
    return key if key is not None and key.state(core.parts.wall()) == "live" else None


def _record(core: Core, exchange: HttpExchange, key: Key) -> RequestRecord:
    return RequestRecord(
        id=exchange.request_id,
        created=core.parts.wall(),
        account=key.account,
        key=key.id,
        endpoint=exchange.path,
        model="",
        client=_text(exchange.header(b"user-agent"), _CLIENT_LENGTH),
        client_request_id=_text(exchange.header(b"x-client-request-id"), _CLIENT_ID_LENGTH),
        address=core.address(exchange),
    )


def _describe(record: RequestRecord, inbound: Inbound) -> None:
    record.model = inbound.model
    record.stream = inbound.stream
    record.effort_asked = inbound.effort
    record.user = inbound.user
    record.metadata = dict(inbound.metadata) if inbound.metadata else None
    record.safety_identifier = inbound.safety_identifier


def _refuse(
    core: Core,
    exchange: HttpExchange,
    front: Front,
    record: RequestRecord,
    problem: Problem,
    *,
    wait: bool = True,
    capture: Capture | None = None,
) -> None:
    """Answer with a problem; `wait`: once its log row is durable, if it has one of its own."""
    record.status = "error"
    record.error = problem.code or problem.type
    _finish_unrouted(core, record, problem.status)
    told = partial(answers.send_problem, exchange, front, problem)
    if core.refusals.fold(record):
        told()
        return
    if capture is not None:
        capture.refused(record, front.problem_body(problem, record.id)[1])
    if wait and core.parts.ledger.broken is None:
        core.parts.ledger.settle(None, record, told)
    else:
        core.record(record)
        told()


def _left(core: Core, record: RequestRecord, capture: Capture | None = None) -> None:
    """The log row of a request whose caller left before it was sent anywhere."""
    if capture is not None:
        capture.end(record)
    record.status = "client_closed"
    _finish_unrouted(core, record, 499)
    core.record(record)


def _finish_unrouted(core: Core, record: RequestRecord, status: int) -> None:
    """Complete the log row of a request that never reached a route, and tell of its end."""
    record.http_status = status
    record.duration_ms = round((core.parts.wall() - record.created) * 1000, 2)
    core.parts.services.observer.finished(record)


def _text(value: bytes | None, limit: int) -> str | None:
    if not value:
        return None
    text = value[:limit].decode("latin-1")
    return "".join(c for c in text if c.isascii() and c.isprintable()) or None
