"""The path of a model request: key, body, plan, reserve, relay.

The same for every front format; what differs between them is in `formats`.
"""

import asyncio
import hashlib
from typing import TYPE_CHECKING

import structlog

from zurelay.access.keys import Key, hash_key, parse_authorization
from zurelay.api import answers, offload
from zurelay.api.exchange import HttpExchange
from zurelay.catalogue.price import price_at
from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.formats.base import Front, Inbound
from zurelay.meter.charge import ceiling
from zurelay.meter.ports import Hold
from zurelay.meter.record import RequestRecord
from zurelay.plan.affinity import conversation
from zurelay.plan.planner import Plan, make_plan
from zurelay.relay.job import Job
from zurelay.relay.runner import Run

if TYPE_CHECKING:
    from zurelay.api.gateway import Gateway

log = structlog.get_logger("zurelay.api")

_CLIENT_LENGTH = 200
_CLIENT_ID_LENGTH = 512


def serve(gateway: "Gateway", exchange: HttpExchange, front: Front) -> None:
    """Answer a request for a model's answer."""
    key = gateway.authenticate(exchange)
    record = _record(gateway, exchange, key)
    body = exchange.take_body()
    encoding = (exchange.header(b"content-encoding") or b"").decode("latin-1")
    try:
        plain = offload.open_here(body, encoding, gateway.snapshot.max_body)
        if plain is None:
            exchange.spawn(_serve_heavy(gateway, exchange, front, key, record, body, encoding))
            return
        inbound = front.read(plain)
    except Refused as refused:
        _refuse(gateway, exchange, front, record, refused.problem)
    except Exception:
        _failed(gateway, exchange, front, record)
    else:
        _proceed(gateway, exchange, front, key, record, inbound)


async def _serve_heavy(
    gateway: "Gateway",
    exchange: HttpExchange,
    front: Front,
    key: Key,
    record: RequestRecord,
    body: bytes,
    encoding: str,
) -> None:
    """As `serve`, with the body read in another process."""
    try:
        inbound = await gateway.parts.reader.read(
            front.name, body, encoding, gateway.snapshot.max_body
        )
    except Refused as refused:
        _refuse(gateway, exchange, front, record, refused.problem)
    except Exception:
        _failed(gateway, exchange, front, record)
    except asyncio.CancelledError:  # the caller left
        record.status, record.http_status = "client_closed", 499
        gateway.parts.services.observer.finished(record)
        gateway.parts.ledger.settle(None, record, _nothing)
        raise
    else:
        _proceed(gateway, exchange, front, key, record, inbound)


def _proceed(
    gateway: "Gateway",
    exchange: HttpExchange,
    front: Front,
    key: Key,
    record: RequestRecord,
    inbound: Inbound,
) -> None:
    """Plan, reserve and relay a request that has been read."""
    _describe(record, inbound)
    try:
        plan = _plan(gateway, inbound, key)
        hold = _reserve(gateway, inbound, plan, key)
    except Refused as refused:
        _refuse(gateway, exchange, front, record, refused.problem)
    except Exception:
        _failed(gateway, exchange, front, record)
    else:
        _relay(gateway, exchange, front, key, record, inbound, plan, hold)


def _relay(
    gateway: "Gateway",
    exchange: HttpExchange,
    front: Front,
    key: Key,
    record: RequestRecord,
    inbound: Inbound,
    plan: Plan,
    hold: Hold,
) -> None:
    """Hand an admitted request to the relay."""
    snapshot = gateway.snapshot
    job = Job(
        inbound=inbound,
        front=front,
        plan=plan,
        record=record,
        hold=hold,
        timing=snapshot.timing,
        answer_id=gateway.parts.ids.answer(record.id, front.answer_prefix),
        created=int(record.created),
        started=exchange.started,
        connect_deadline=snapshot.connect_deadline_s,
        redact=snapshot.redact,
        cache_key=_own_cache_key(key.account, inbound.cache_key),
        affinity_key=conversation(key.account, inbound),
    )
    gateway.parts.ledger.begin(record)
    run = Run(
        job, gateway.parts.services, exchange, gateway.loop, snapshot.wire, gateway.run_finished
    )
    gateway.runs.add(run)
    run.start()


def _own_cache_key(account: str, key: str | None) -> str | None:
    """A prompt-cache key that no other account can meet; 32 characters, the same each time."""
    if key is None:
        return None
    return hashlib.sha256(f"{account}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def refuse_early(
    gateway: "Gateway", exchange: HttpExchange, front: Front, problem: Problem
) -> None:
    """Refuse a request whose body was not read."""
    key = _known_key(gateway, exchange)
    if key is None:
        answers.send_problem(exchange, front, problem)
        return
    record = _record(gateway, exchange, key)
    _log_refusal(gateway, record, problem)
    answers.send_problem(exchange, front, problem)


def _known_key(gateway: "Gateway", exchange: HttpExchange) -> Key | None:
    """The live key that the call shows, if it is in memory; nothing is counted."""
    try:
        key = gateway.parts.keys.find(hash_key(parse_authorization(exchange.headers)))
    except Refused:
        return None
    return key if key is not None and key.state(gateway.parts.wall()) == "live" else None


def _record(gateway: "Gateway", exchange: HttpExchange, key: Key) -> RequestRecord:
    return RequestRecord(
        id=exchange.request_id,
        created=gateway.parts.wall(),
        account=key.account,
        key=key.id,
        endpoint=exchange.path,
        model="",
        client=_text(exchange.header(b"user-agent"), _CLIENT_LENGTH),
        client_request_id=_text(exchange.header(b"x-client-request-id"), _CLIENT_ID_LENGTH),
    )


def _describe(record: RequestRecord, inbound: Inbound) -> None:
    record.model = inbound.model
    record.stream = inbound.stream
    record.effort_asked = inbound.effort
    record.user = inbound.user
    record.metadata = dict(inbound.metadata) if inbound.metadata else None
    record.safety_identifier = inbound.safety_identifier


def _plan(gateway: "Gateway", inbound: Inbound, key: Key) -> Plan:
    services = gateway.parts.services
    return make_plan(
        gateway.snapshot.table,
        inbound,
        may_use=key.may_use,
        health=services.health,
        affinity=services.affinity,
        account=key.account,
        now=gateway.loop.time(),
        draw=services.jitter,
    )


def _reserve(gateway: "Gateway", inbound: Inbound, plan: Plan, key: Key) -> Hold:
    now = gateway.parts.wall()
    output = inbound.max_output or gateway.snapshot.output_estimate
    most = 0
    for candidate in plan.candidates:
        price = price_at(candidate.served.model, now)
        if price is not None:
            cost = ceiling(price, plan.input_estimate, output, inbound.choices)
            most = max(most, cost)
    return gateway.parts.ledger.reserve(key.account, key.id, most)


def _refuse(
    gateway: "Gateway",
    exchange: HttpExchange,
    front: Front,
    record: RequestRecord,
    problem: Problem,
) -> None:
    _log_refusal(gateway, record, problem)
    answers.send_problem(exchange, front, problem)


def _failed(
    gateway: "Gateway", exchange: HttpExchange, front: Front, record: RequestRecord
) -> None:
    """A fault of ours: all of it into the log, nothing of it to the caller."""
    log.exception("request_failed", request_id=record.id)
    _refuse(gateway, exchange, front, record, problems.internal())


def _log_refusal(gateway: "Gateway", record: RequestRecord, problem: Problem) -> None:
    """One log row without cost for a request that never reached a route."""
    record.status = "error"
    record.http_status = problem.status
    record.error = problem.code or problem.type
    record.duration_ms = round((gateway.parts.wall() - record.created) * 1000, 2)
    gateway.parts.services.observer.finished(record)
    gateway.parts.ledger.settle(None, record, _nothing)


def _text(value: bytes | None, limit: int) -> str | None:
    if not value:
        return None
    text = value[:limit].decode("latin-1")
    return "".join(c for c in text if c.isascii() and c.isprintable()) or None


def _nothing() -> None:
    """A refusal does not wait for its log row: nothing was charged."""
