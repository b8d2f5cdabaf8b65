"""The data plane: who calls, what for, and which endpoint answers.

One `Gateway` a process. It keeps what all requests share and the running requests; each endpoint
is a function of its own module, named in `ENDPOINTS`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from zurelay.access.keys import Key
from zurelay.api import answers, completions, counting, health, lists
from zurelay.api.bodies import body_too_large
from zurelay.api.core import Core, KeyUnknown
from zurelay.api.exchange import Headers, HttpExchange
from zurelay.api.snapshot import Snapshot
from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.formats import registry
from zurelay.formats.base import Front

log = structlog.get_logger("zurelay.api")

_MOST_UNREAD = 64 * 1024
"""Bytes of body that an endpoint without a body is sent before it refuses."""

Serve = Callable[[Core, HttpExchange, Front], None]
"""What an endpoint is: it answers, now or later."""


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
    "/v1/messages": Endpoint(("POST",), completions.serve, "anthropic", reads_body=True),
    "/v1/messages/count_tokens": Endpoint(
        ("POST",), counting.count_tokens, "anthropic_count", reads_body=True
    ),
    "/v1/responses": Endpoint(("POST",), completions.serve, "openai_responses", reads_body=True),
    "/v1/embeddings": Endpoint(("POST",), completions.serve, "embeddings", reads_body=True),
    "/v1/models": Endpoint(("GET",), lists.models),
    "/v1/models/": Endpoint(("GET",), lists.model),
    "/v1/key": Endpoint(("GET",), lists.key),
    "/v1/requests/": Endpoint(("GET",), lists.request),
    "/healthz": Endpoint(("GET",), health.alive),
    "/readyz": Endpoint(("GET",), health.ready),
    "/metrics": Endpoint(("GET",), health.metrics),
}
"""Exact paths; one that ends with a slash takes a rest, which is an id."""

_ANTHROPIC = "/v1/messages"
_PREFIXES = tuple(path for path in ENDPOINTS if path.endswith("/"))


class Gateway:
    """Serves the data plane. Implements `connection.Service`; its calls never raise."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.inflight = 0
        self._fronts = {front.name: front for front in registry.FRONTS}
        self._cross_origin: Headers = answers.cross_origin(core.snapshot.wire)

    def replace(self, snapshot: Snapshot) -> None:
        """New requests are served by `snapshot`; running ones keep theirs."""
        self.core.snapshot = snapshot
        self._cross_origin = answers.cross_origin(snapshot.wire)

    # What the connection calls.

    def takes(self, path: str) -> bool:
        """Whether the path belongs to the data plane."""
        return path.startswith("/v1/") or path in ENDPOINTS

    def check_head(self, exchange: HttpExchange) -> None:
        """Refuse what can be refused before the body is read: path, method, key, limits, size."""
        self._begin(exchange)
        endpoint, front = self._endpoint(exchange)
        if endpoint is None or exchange.method not in endpoint.methods:
            self._answer(exchange)
            return
        if not endpoint.reads_body:
            return
        try:
            key = self.core.authenticate(exchange)
            if endpoint.serve is completions.serve:
                self._check_limits(exchange, key)
        except KeyUnknown:
            exchange.hold_body(held=True)
            exchange.spawn(self._look_up_unread(exchange, front))
        except Refused as refused:
            self.refuse_unread(exchange, front, refused.problem)
        else:
            self._check_length(exchange, front)

    def body_grew(self, exchange: HttpExchange, size: int) -> None:
        """Keep count of the bytes of all bodies; refuse the one that outgrows its bound."""
        exchange.inflight += size
        self.inflight += size
        endpoint, front = self._endpoint(exchange)
        most = self._most(endpoint)
        if exchange.body_size > most:
            self.refuse_unread(exchange, front, body_too_large(most))
        elif self.inflight > self.core.snapshot.max_inflight:
            self.refuse_unread(exchange, front, _no_room())

    def slow_body(self, exchange: HttpExchange) -> None:
        """408."""
        _, front = self._endpoint(exchange)
        self.refuse_unread(exchange, front, problems.slow_body())

    def body_lost(self, exchange: HttpExchange) -> None:
        """The caller left before its body was whole, or sends what is none."""
        self._release(exchange)
        exchange.body_parts.clear()
        endpoint, _ = self._endpoint(exchange)
        if exchange.request_id and endpoint is not None and endpoint.reads_body:
            completions.abandoned(self.core, exchange)

    def serve(self, exchange: HttpExchange) -> None:
        """Answer a whole request."""
        if exchange.inflight:
            self._release(exchange)
        if not exchange.request_id:
            self._begin(exchange)
        if exchange.body_size > _MOST_UNREAD:
            endpoint, front = self._endpoint(exchange)
            most = self._most(endpoint)
            if exchange.body_size > most:  # its last piece was too much
                self.refuse_unread(exchange, front, body_too_large(most))
                return
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
        return head % (status, phrase, self.core.parts.ids.request().encode(), len(body)) + body

    # What endpoints call.

    def refuse_unread(self, exchange: HttpExchange, front: Front, problem: Problem) -> None:
        """Refuse a request whose body has not been read; it is logged where its key is good."""
        self._release(exchange)
        exchange.body_parts.clear()
        completions.refuse_early(self.core, exchange, front, problem)

    # Our own.

    def _most(self, endpoint: Endpoint | None) -> int:
        reads = endpoint is not None and endpoint.reads_body
        return self.core.snapshot.max_body if reads else _MOST_UNREAD

    def _check_limits(self, exchange: HttpExchange, key: Key) -> None:
        """Refuse a request that its key's limits are known to keep out, unless it may be a repeat.

        Raises:
            Refused: 429.
        """
        if exchange.header(b"idempotency-key") is None:
            parts, snapshot = self.core.parts, self.core.snapshot
            bounds = parts.bounds.of(key, snapshot.key_limits, None)
            parts.limits.look(bounds, anthropic=exchange.path.startswith(_ANTHROPIC))

    def _check_length(self, exchange: HttpExchange, front: Front) -> None:
        """Refuse a body that is announced as larger than may be, or than there is room for."""
        length = int(exchange.header(b"content-length") or b"0")
        snapshot = self.core.snapshot
        if length > snapshot.max_body:
            self.refuse_unread(exchange, front, body_too_large(snapshot.max_body))
        elif self.inflight + length > snapshot.max_inflight:
            self.refuse_unread(exchange, front, _no_room())

    async def _look_up_unread(self, exchange: HttpExchange, front: Front) -> None:
        """Ask the store for a key before its body is read."""
        try:
            await self.core.parts.keys.look_up(exchange.headers)
        except Refused as refused:
            self.core.parts.metrics.invalid_key()
            self.refuse_unread(exchange, front, refused.problem)
        else:
            self._check_length(exchange, front)
        finally:
            exchange.hold_body(held=False)

    def _release(self, exchange: HttpExchange) -> None:
        self.inflight -= exchange.inflight
        exchange.inflight = 0

    def _begin(self, exchange: HttpExchange) -> None:
        exchange.request_id = self.core.parts.ids.request()
        common = [(b"x-request-id", exchange.request_id.encode("ascii"))]
        if exchange.path.startswith(_ANTHROPIC):  # its clients look for it under this name
            common.append((b"request-id", exchange.request_id.encode("ascii")))
        if self.core.draining:
            exchange.keep_alive = False
        if exchange.header(b"origin") is not None and exchange.path.startswith("/v1/"):
            common.extend(self._cross_origin)
        exchange.common_headers = common

    def _endpoint(self, exchange: HttpExchange) -> tuple[Endpoint | None, Front]:
        path = exchange.path
        endpoint = None if path in _PREFIXES else ENDPOINTS.get(path)
        if endpoint is None:
            prefix = next((p for p in _PREFIXES if path.startswith(p) and path != p), None)
            endpoint = None if prefix is None else ENDPOINTS[prefix]
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
                endpoint.serve(self.core, exchange, front)
            else:
                problem = _wrong_method(exchange, endpoint.allow)
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
            await self.core.parts.keys.look_up(exchange.headers)
        except Refused as refused:
            self.core.parts.metrics.invalid_key()
            answers.send_problem(exchange, front, refused.problem)
            return
        self._answer(exchange)


def _no_room() -> Problem:
    return problems.overloaded_here("The gateway is reading too many request bodies; try again.")


def _wrong_method(exchange: HttpExchange, allow: str) -> problems.Problem:
    if any(name == b"sec-websocket-key" for name, _ in exchange.headers):
        return problems.no_websockets(allow)
    return problems.method_not_allowed(exchange.method, allow)


def _shown(path: str) -> str:
    return "".join(c for c in path[:80] if c.isascii() and c.isprintable() and c not in "\"'<>\\")
