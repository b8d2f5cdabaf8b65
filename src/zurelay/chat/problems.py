"""What a caller is told when there is no answer: status, type, code, message, in one table.

The formats only arrange these fields in their own shapes. Faults of attempts become problems here
and nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from zurelay.chat.faults import Fault, FaultKind


@dataclass(frozen=True, slots=True)
class Problem:
    """An error answer.

    Attributes:
        status: HTTP status on the OpenAI endpoints.
        type: OpenAI's error type.
        code: OpenAI's error code, or the provider's own.
        message: one sentence for the developer who reads it.
        param: path of the field at fault, such as `messages[2].content[0].type`.
        retry_after: whole seconds to wait, sent as `retry-after`.
        should_retry: False sends `x-should-retry: false`; None leaves it to the client.
        allow: methods for the `Allow` header of a 405.
        headers: further header lines, names in lower case.
    """

    status: int
    type: str
    code: str | None
    message: str
    param: str | None = None
    retry_after: int | None = None
    should_retry: bool | None = None
    allow: str | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Refused(Exception):  # noqa: N818 - it is an answer, not an error of ours
    """Raised where a request cannot go on; carries what the caller is told."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


INVALID = "invalid_request_error"
_MOST_SAID = 300


def invalid_json(message: str) -> Problem:
    """400: the body is no JSON object."""
    return Problem(400, INVALID, "invalid_json", message)


def missing(param: str, message: str = "") -> Problem:
    """400: a required field is left out."""
    text = message or f"Missing required parameter: '{param}'."
    return Problem(400, INVALID, "missing_required_parameter", text, param)


def invalid_value(param: str, message: str) -> Problem:
    """400: a field has a value it cannot have; the message says what would be right."""
    return Problem(400, INVALID, "invalid_value", message, param)


def unsupported_content(param: str, message: str) -> Problem:
    """400: no route can take this part of the request."""
    return Problem(400, INVALID, "unsupported_content", message, param)


def context_overflow(message: str) -> Problem:
    """400: the request is too long for the model."""
    return Problem(400, INVALID, "context_length_exceeded", message, "messages")


def invalid_key(message: str) -> Problem:
    """401: the key is missing, unknown, revoked or expired.

    Coding agents ask again for minutes in silence unless they are told not to (Claude Code 2.1.332,
    2026-11-30).
    """
    kind, code = "authentication_error", "invalid_api_key"
    return Problem(401, kind, code, message, should_retry=False)


def insufficient_credit(message: str) -> Problem:
    """402: balance or budget is used up."""
    return Problem(402, "insufficient_quota", "insufficient_credit", message, should_retry=False)


def model_not_allowed(model: str, param: str = "model") -> Problem:
    """403: the key may not use this model."""
    return Problem(
        403,
        "permission_error",
        "model_not_allowed",
        f"This key may not use the model '{model}'.",
        param,
    )


def model_not_found(model: str, nearest: str | None = None) -> Problem:
    """404: no such model here."""
    hint = f" Did you mean '{nearest}'?" if nearest else " See GET /v1/models for the list."
    return Problem(
        404, INVALID, "model_not_found", f"The model '{model}' does not exist.{hint}", "model"
    )


def not_found(message: str) -> Problem:
    """404: no such path or object."""
    return Problem(404, INVALID, "not_found", message)


def method_not_allowed(method: str, allow: str) -> Problem:
    """405: the path exists, the method does not."""
    return Problem(
        405,
        INVALID,
        "method_not_allowed",
        f"{method} is not allowed here; use {allow}.",
        allow=allow,
    )


def no_websockets(allow: str) -> Problem:
    """426 to whoever wants a WebSocket.

    Codex then asks by HTTP at once; after a 405 or a 404 it tries for six seconds first (0.171,
    2026-11-30).
    """
    told = f"WebSockets are not served here; use {allow}."
    return Problem(426, INVALID, "method_not_allowed", told, allow=allow)


def slow_body() -> Problem:
    """408: the request body stopped coming."""
    return Problem(408, INVALID, "request_timeout", "The request body arrived too slowly.")


def too_large(message: str) -> Problem:
    """413: the body is larger than this gateway accepts."""
    return Problem(413, INVALID, "request_too_large", message)


def bad_encoding(encoding: str) -> Problem:
    """415: the body's content-encoding is unknown."""
    return Problem(
        415,
        INVALID,
        "unsupported_encoding",
        f"Unknown content-encoding '{encoding}'; use gzip, deflate, br, zstd or none.",
    )


def idempotency_key_in_use() -> Problem:
    """409: the answer under this key is running, and cannot be joined any more."""
    return Problem(
        409,
        INVALID,
        "idempotency_key_in_use",
        "A request with this Idempotency-Key is running and its answer is too large to be shared; "
        "wait for it, or use a new key.",
        should_retry=False,
    )


def idempotency_key_reused() -> Problem:
    """422: the key belongs to a request with another body."""
    return Problem(
        422,
        INVALID,
        "idempotency_key_reused",
        "This Idempotency-Key was used for a request with another body; use a new key for each "
        "request, and the same one only to repeat it unchanged.",
        should_retry=False,
    )


def rate_limited(message: str, retry_after: float) -> Problem:
    """429: a limit of this gateway, or every route rests."""
    return Problem(
        429,
        "rate_limit_error",
        "rate_limit_exceeded",
        message,
        retry_after=max(1, ceil(retry_after)),
    )


def overloaded_here(message: str, retry_after: float = 1) -> Problem:
    """503: this gateway has no room for the request just now."""
    return Problem(
        503, "upstream_error", "no_route_available", message, retry_after=max(1, ceil(retry_after))
    )


def ending() -> Problem:
    """503: this process ends and could not finish the answer; another may give it."""
    return overloaded_here("The gateway is shutting down; send the request again.")


def internal() -> Problem:
    """500: a fault of ours; nothing about it is told."""
    return Problem(
        500, "internal_error", "internal_error", "The gateway failed; the request id names it."
    )


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """One attempt as a caller may see it: route number, public model, and why it failed.

    `provider` (or what the operator calls the route to callers) and `said`, the provider's own
    words made fit to be shown, are empty where callers may not see them.
    """

    route: int
    model: str
    fault: Fault
    provider: str = ""
    said: str = ""

    def __str__(self) -> str:
        at = f" at {self.provider}" if self.provider else ""
        said = f", said: {self.said[:_MOST_SAID]}" if self.said else ""
        return f"route {self.route} ({self.model}{at}): {self.fault.shown}{said}"


def of_fault(fault: Fault) -> Problem:
    """The answer for a fault that is the request's own: the provider's words, passed on once."""
    if fault.kind is FaultKind.CONTEXT_OVERFLOW:
        return Problem(
            400,
            INVALID,
            "context_length_exceeded",
            fault.message or "The request is longer than the model's context window.",
            fault.param or "messages",
            should_retry=False,
        )
    status = fault.status if 400 <= fault.status < 500 else 400
    if fault.kind is FaultKind.CONTENT_POLICY:
        status = 400
    return Problem(
        status,
        fault.type or INVALID,
        fault.code or ("content_policy_violation" if status == 400 else None),
        fault.message or "The provider refused the request.",
        fault.param,
        should_retry=False if status in (408, 409, 429) else None,
    )


def of_attempts(attempts: Sequence[FailedAttempt], shortest_wait: float | None = None) -> Problem:
    """The answer once every route was tried or none could be.

    Args:
        attempts: what failed, in order.
        shortest_wait: seconds until the first resting route may be asked, when all rest.
    """
    if not attempts and shortest_wait is not None:
        return rate_limited("Every route to this model is rate limited.", shortest_wait)
    if not attempts:
        return Problem(
            503,
            "upstream_error",
            "no_route_available",
            "No route to this model is available.",
            should_retry=False,
        )
    kinds = {attempt.fault.kind for attempt in attempts}
    told = "; ".join(map(str, attempts)).rstrip(".")
    waits = [a.fault.retry_after for a in attempts if a.fault.retry_after is not None]
    if kinds == {FaultKind.RATE_LIMITED}:
        wait = min(waits) if waits else (shortest_wait or 1)
        return rate_limited(f"Every route is rate limited: {told}.", wait)
    if kinds == {FaultKind.TIMEOUT}:
        status, code = 504, "upstream_timeout"
    elif kinds <= {FaultKind.OVERLOADED, FaultKind.RATE_LIMITED}:
        status, code = 503, "no_route_available"
    else:
        status, code = 502, "upstream_failed"
    return Problem(
        status,
        "upstream_error",
        code,
        f"Every route failed: {told}.",
        should_retry=False,
    )
