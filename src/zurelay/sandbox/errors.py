"""The errors that sandbox models answer with on purpose, in the manner of OpenAI."""

from collections.abc import Mapping
from math import ceil

from zurelay.chat.problems import Problem
from zurelay.sandbox.behaviour import Behaviour

_ERRORS: Mapping[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", "invalid_value"),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("permission_error", None),
    404: ("invalid_request_error", "model_not_found"),
    408: ("timeout_error", "request_timeout"),
    409: ("conflict_error", None),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("service_unavailable_error", "server_is_overloaded"),
    529: ("overloaded_error", "overloaded"),
}
"""Status -> type and code."""


OVERFLOW = "context_length_exceeded"
"""The code of a prompt that is too long; formats say it in words of their own."""


def unusual_code(problem: Problem) -> str | None:
    """The code that the model id asks for, None where it is the status's ordinary one."""
    usual = _ERRORS.get(problem.status, ("", None))[1]
    return None if problem.code == usual else problem.code


def told(behaviour: Behaviour) -> Problem:
    """The error that `error` and `rate-limit` models answer with."""
    kind, code = _ERRORS.get(
        behaviour.status,
        ("server_error" if behaviour.status >= 500 else "invalid_request_error", None),
    )
    text = f"The sandbox answers {behaviour.status}, as the model id asks."
    wait = behaviour.retry_after
    if behaviour.model == "rate-limit":
        text = f"Rate limit reached in the sandbox. Please try again in {wait:g}s."
    return Problem(
        behaviour.status,
        kind,
        behaviour.code or code,
        text,
        retry_after=None if wait is None else ceil(wait),
    )
