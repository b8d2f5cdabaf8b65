"""Anthropic's error shape, for callers."""

from zurelay.chat.problems import Problem
from zurelay.wire import json

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
}
"""Status -> type; every other one is the request's own fault."""

_OVERFLOW = "prompt is too long"
_OVERLOADED = 529
"""What Anthropic answers where others say 503."""


def body(problem: Problem, request_id: str) -> bytes:
    """The JSON body of an error answer, and the data of an error event."""
    kind = _TYPES.get(problem.status, "api_error" if problem.status >= 500 else "")
    message = problem.message
    if problem.code == "context_length_exceeded" and _OVERFLOW not in message.lower():
        message = f"{_OVERFLOW}: {message}"
    error = {"type": kind or "invalid_request_error", "message": message}
    return json.encode({"type": "error", "error": error, "request_id": request_id or None})


def status(problem: Problem) -> int:
    """The HTTP status on this endpoint."""
    return _OVERLOADED if problem.status == 503 else problem.status


def event(problem: Problem, request_id: str) -> bytes:
    """The error event of an open stream."""
    return b"event: error\ndata: " + body(problem, request_id) + b"\n\n"
