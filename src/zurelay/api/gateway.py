"""The data plane: who calls, what for, and which endpoint answers.

One `Gateway` a process. It keeps what all requests share and the running requests; each endpoint
is a function of its own module, named in `ENDPOINTS`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from zurelay.access.keys import Key
from zurelay.api import answers, completions, health, lists
from zurelay.api.bodies import body_too_large
from zurelay.api.exchange import Headers, HttpExchange
from zurelay.api.offload import Reader
from zurelay.api.snapshot import Snapshot
from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.formats import registry
from zurelay.formats.base import Front
from zurelay.live.ids import Ids
from zurelay.live.keys import KeyRing
from zurelay.live.ledger import JournalLedger
from zurelay.relay.job import Services
from zurelay.relay.runner import Run
from zurelay.telemetry.metrics import Metrics

log = structlog.get_logger("zurelay.api")


class KeyUnknown(Exception):  # noqa: N818 - a turn of the path, not an error
    """A well-formed key that is not in memory: it may have been made a moment ago."""


class Serve(Protocol):
    """What an endpoint is."""

    def __call__(self, gateway: "Gateway", exchange: HttpExchange, front: Front) -> None:
        """Answer, now or later."""
        ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Which methods a path takes, which format its errors have, and what answers."""

    methods: tuple[str, ...]
    serve: Serve
    front: str = "openai_chat"
    reads_body: bool = False

    @property
    def allow(self) -> str:
        """The value of an `Allow` header."""
        extra = ("HEAD", "OPTIONS") if "GET" in self.methods else ("OPTIONS",)
        return ", ".join((*self.methods, *extra))


ENDPOINTS: dict[str, Endpoint] = {
    "/v1/chat/completions": Endpoint(("POST",), completions.serve, reads_body=True),
    "/v1/models": Endpoint(("GET",), lists.models),
    "/v1/models/": Endpoint(("GET",), lists.model),
    "/v1/key": Endpoint(("GET",), lists.key),
    "/v1/requests/": Endpoint(("GET",), lists.request),
    "/healthz": Endpoint(("GET",), health.alive),
    "/readyz": Endpoint(("GET",), health.ready),
    "/metrics": Endpoint(("GET",), health.metrics),
}
"""Exact paths; one that ends with a slash takes a rest, which is an id."""

_PREFIXES = tuple(path for path in ENDPOINTS if path.endswith("/"))


@dataclass(slots=True)
class Parts:
    """What the composition root puts together; alive as long as the process."""

    services: Services
    keys: KeyRing
    ledger: JournalLedger
    metrics: Metrics
    ids: Ids
    reader: Reader
    wall: Callable[[], float]
    ready: Callable[[], dict[str, object]]
    admits_metrics: Callable[[HttpExchange], bool]


class Gateway:
    """Serves the data plane. Implements `connection.Service`; its calls never raise."""

    def __init__(self, parts: Parts, snapshot: Snapshot, loop: asyncio.AbstractEventLoop) -> None:
        self.parts = parts
        self.snapshot = snapshot
        self.loop = loop
        self.runs: set[Run] = set()
        self.inflight = 0
        self.draining = False
        self._fronts = {front.name: front for front in registry.FRONTS}
        self._cross_origin: Headers = answers.cross_origin(snapshot.wire)

    def replace(self, snapshot: Snapshot) -> None:
        """New requests are served by `snapshot`; running ones keep theirs."""
        self.snapshot = snapshot
        self._cross_origin = answers.cross_origin(snapshot.wire)

    # What the connection calls.

    def takes(self, path: str) -> bool:
        """Whether the path belongs to the data plane."""
        return path.startswith("/v1/") or path in ENDPOINTS

    def check_head(self, exchange: HttpExchange) -> None:
        """Refuse what can be refused before the body is read: path, method, key, size."""
        self._begin(exchange)
        endpoint, front = self._endpoint(exchange)
        if endpoint is None or exchange.method not in endpoint.methods:
            self._answer(exchange)
            return
        if not endpoint.reads_body:
            return
        try:
            self.authenticate(exchange)
            length = int(exchange.header(b"content-length") or b"0")
            if length > self.snapshot.max_body:
                raise Refused(body_too_large(self.snapshot.max_body))  # noqa: TRY301
            if self.inflight + length > self.snapshot.max_inflight:
                raise Refused(_no_room())  # noqa: TRY301
        except KeyUnknown:
            return  # it is looked up when the body is whole
        except Refused as refused:
            self.refuse_unread(exchange, front, refused.problem)

    def body_grew(self, exchange: HttpExchange, size: int) -> None:
        """Keep count of the bytes of all bodies; refuse the one that outgrows its bound."""
        exchange.inflight += size
        self.inflight += size
        _, front = self._endpoint(exchange)
        if exchange.body_size > self.snapshot.max_body:
            self.refuse_unread(exchange, front, body_too_large(self.snapshot.max_body))
        elif self.inflight > self.snapshot.max_inflight:
            self.refuse_unread(exchange, front, _no_room())

    def slow_body(self, exchange: HttpExchange) -> None:
        """408."""
        _, front = self._endpoint(exchange)
        self.refuse_unread(exchange, front, problems.slow_body())

    def body_lost(self, exchange: HttpExchange) -> None:
        """The caller left before its body was whole."""
        self._release(exchange)

    def serve(self, exchange: HttpExchange) -> None:
        """Answer a whole request."""
        self._release(exchange)
        if not exchange.request_id:
            self._begin(exchange)
        self._answer(exchange)

    def malformed(self, reason: str, status: int) -> bytes:
        """An answer for bytes that are no HTTP request."""
        front = self._fronts["openai_chat"]
        problem = Problem(status, problems.INVALID, "invalid_request", reason)
        _, body = front.problem_body(problem, "")
        head = (
            b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\nx-request-id: %s\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n"
        )
        phrase = b"Bad Request" if status == 400 else b"Request Header Fields Too Large"
        return head % (status, phrase, self.parts.ids.request().encode(), len(body)) + body

    # What endpoints call.

    def authenticate(self, exchange: HttpExchange) -> Key:
        """The caller's key.

        Raises:
            Refused: 401, or 503 while keys cannot be checked.
            KeyUnknown: only the store can tell.
        """
        try:
            key = self.parts.keys.identify(exchange.headers)
        except Refused:
            self.parts.metrics.invalid_key()
            raise
        if key is None:
            raise KeyUnknown
        return key

    def refuse_unread(self, exchange: HttpExchange, front: Front, problem: Problem) -> None:
        """Refuse a request whose body has not been read; it is logged where its key is good."""
        self._release(exchange)
        exchange.body_parts.clear()
        completions.refuse_early(self, exchange, front, problem)

    def run_finished(self, run: Run) -> None:
        """A request is over."""
        self.runs.discard(run)

    # Our own.

    def _release(self, exchange: HttpExchange) -> None:
        self.inflight -= exchange.inflight
        exchange.inflight = 0

    def _begin(self, exchange: HttpExchange) -> None:
        exchange.request_id = self.parts.ids.request()
        common = [(b"x-request-id", exchange.request_id.encode("ascii"))]
        if self.draining:
            exchange.keep_alive = False
        if exchange.header(b"origin") is not None and exchange.path.startswith("/v1/"):
            common.extend(self._cross_origin)
        exchange.common_headers = common

    def _endpoint(self, exchange: HttpExchange) -> tuple[Endpoint | None, Front]:
        endpoint = ENDPOINTS.get(exchange.path)
        if endpoint is None:
            prefix = next((p for p in _PREFIXES if exchange.path.startswith(p)), None)
            endpoint = ENDPOINTS[prefix] if prefix and exchange.path != prefix else None
        name = endpoint.front if endpoint is not None else "openai_chat"
        return endpoint, self._fronts[name]

    def _answer(self, exchange: HttpExchange) -> None:
        endpoint, front = self._endpoint(exchange)
        try:
            if endpoint is None:
                problem = problems.not_found(f"There is no {_shown(exchange.path)} here.")
                answers.send_problem(exchange, front, problem)
            elif exchange.method == "OPTIONS":
                answers.preflight(exchange, endpoint.allow)
            elif exchange.method in endpoint.methods or (
                exchange.method == "HEAD" and "GET" in endpoint.methods
            ):
                endpoint.serve(self, exchange, front)
            else:
                problem = problems.method_not_allowed(exchange.method, endpoint.allow)
                answers.send_problem(exchange, front, problem)
        except KeyUnknown:
            exchange.spawn(self._look_up(exchange, front))
        except Refused as refused:
            answers.send_problem(exchange, front, refused.problem)
        except Exception:
            log.exception("request failed", request_id=exchange.request_id)
            answers.send_problem(exchange, front, problems.internal())

    async def _look_up(self, exchange: HttpExchange, front: Front) -> None:
        """Ask the store for a key that is not in memory, then answer as if it had been."""
        try:
            await self.parts.keys.look_up(exchange.headers)
        except Refused as refused:
            self.parts.metrics.invalid_key()
            answers.send_problem(exchange, front, refused.problem)
            return
        self._answer(exchange)


def _no_room() -> Problem:
    return problems.overloaded_here("The gateway is reading too many request bodies; try again.")


def _shown(path: str) -> str:
    return "".join(c for c in path[:80] if c.isascii() and c.isprintable() and c not in "\"'<>\\")
