"""Answers that are not a model's: JSON bodies, errors, cross-origin headers."""

import msgspec

from zurelay.api.exchange import Headers, HttpExchange
from zurelay.chat.problems import Problem
from zurelay.formats.base import Front
from zurelay.relay import headers as relay_headers

JSON = (b"content-type", b"application/json")
_encode = msgspec.json.Encoder().encode

_LONGEST_HEADER = 2048
_SAFE_HEADER_NAMES = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_, "
)


def send_json(exchange: HttpExchange, value: object, status: int = 200) -> None:
    """`value` as a JSON body."""
    exchange.answer(status, [JSON], _encode(value))


def send_problem(exchange: HttpExchange, front: Front, problem: Problem) -> None:
    """An error in the shape of the endpoint's format."""
    status, body = front.problem_body(problem, exchange.request_id)
    exchange.answer(status, [JSON, *relay_headers.of_problem(problem)], body)


def kept_headers(exchange: HttpExchange, front: Front) -> dict[str, str]:
    """The caller's headers that belong to the format; repeated ones joined."""
    found: dict[str, str] = {}
    for name in front.headers:
        wanted = name.encode("ascii")
        values = [value for key, value in exchange.headers if key == wanted]
        text = b",".join(values)[:_LONGEST_HEADER].decode("latin-1")
        if text and text.isascii() and text.isprintable():
            found[name] = text
    return found


def cross_origin(wire: str) -> Headers:
    """What a browser on another site needs to read an answer; no credentials are allowed."""
    exposed = (
        f"x-request-id, request-id, x-{wire}-model, x-{wire}-routed-from, "
        f"x-{wire}-reasoning-effort, x-{wire}-dropped-params, "
        "x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, "
        "x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, "
        "anthropic-ratelimit-requests-limit, anthropic-ratelimit-requests-remaining, "
        "anthropic-ratelimit-requests-reset, anthropic-ratelimit-tokens-limit, "
        "anthropic-ratelimit-tokens-remaining, anthropic-ratelimit-tokens-reset, "
        "retry-after, server-timing"
    )
    return (
        (b"access-control-allow-origin", b"*"),
        (b"access-control-expose-headers", exposed.encode("ascii")),
    )


def preflight(exchange: HttpExchange, methods: str) -> None:
    """Answer a browser's question whether it may call; needs no key."""
    asked = exchange.header(b"access-control-request-headers") or b""
    headers = [
        (b"access-control-allow-origin", b"*"),
        (b"access-control-allow-methods", methods.encode("ascii")),
        (b"access-control-max-age", b"86400"),
        (b"vary", b"access-control-request-headers"),
    ]
    if asked and len(asked) <= 1024 and _SAFE_HEADER_NAMES.issuperset(asked):
        headers.append((b"access-control-allow-headers", asked))
    exchange.common_headers = [h for h in exchange.common_headers if h[0] == b"x-request-id"]
    exchange.answer(204, [(b"allow", methods.encode("ascii")), *headers], b"")
