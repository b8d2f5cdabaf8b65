"""The head of a request, as bytes.

Knows HTTP/1.1's request syntax and which headers are the client's own. Does not know connections.
"""

import re
from functools import lru_cache

from zurelay.upstream.decoding import ACCEPTED
from zurelay.upstream.proxies import Proxy
from zurelay.upstream.url import Address

_OWN = frozenset(
    {
        "host",
        "content-length",
        "accept-encoding",
        "connection",
        "transfer-encoding",
        "expect",
        "upgrade",
        "te",
        "trailer",
        "proxy-authorization",
    }
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

# Names once seen to be good, so that each call checks by look-up only; bounded.
_good_names: set[str] = set()
_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_HEADS = 256
"""Heads that are kept, of the newest calls."""


def fixed_lines(address: Address, proxy: Proxy | None) -> str:
    """What every request to one URL carries after its method, up to its own headers.

    With a proxy for a plain origin the target is in absolute form (RFC 9112, 3.2.2).
    """
    target = address.target
    authorization = ""
    if proxy is not None and address.scheme == "http":
        target = f"http://{address.authority}{target}"
        if proxy.authorization is not None:
            authorization = f"proxy-authorization: {proxy.authorization}\r\n"
    return (
        f" {target} HTTP/1.1\r\nhost: {address.authority}\r\naccept-encoding: {ACCEPTED}\r\n"
        f"connection: keep-alive\r\n{authorization}"
    )


def encode_head(
    method: str, fixed: str, headers: tuple[tuple[str, str], ...], length: int, agent: str
) -> bytes:
    """The whole head, with its blank line.

    Args:
        method: any token.
        fixed: of `fixed_lines`.
        headers: the caller's own.
        length: bytes of the body.
        agent: `user-agent` where the caller gives none.

    Raises:
        ValueError: a name or value that cannot go into a header, or a name that is the client's
            own. Says which name, never the value.
    """
    head = _unsized(method, fixed, headers, agent)
    if length or method not in _BODILESS:
        return b"%bcontent-length: %d\r\n\r\n" % (head, length)
    return head + b"\r\n"


@lru_cache(maxsize=_HEADS)
def _unsized(method: str, fixed: str, headers: tuple[tuple[str, str], ...], agent: str) -> bytes:
    """The head but for its length: it is the same for nearly all calls of a route."""
    lines = [method, fixed]
    for name, value in headers:
        if name not in _good_names:
            _check_name(name)
        if name == "user-agent":
            agent = ""
        lines.append(f"{name}: {value}\r\n")
    if agent:
        lines.append(f"user-agent: {agent}\r\n")
    text = "".join(lines)
    # one pass over the whole instead of one per value
    breaks = len(lines) - 2 + fixed.count("\n")
    if text.count("\n") != breaks or text.count("\r") != breaks or "\0" in text:
        _blame(headers, method)
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        _blame(headers, method)
        raise


def _check_name(name: str) -> None:
    lowered = name.lower()
    if not _TOKEN.fullmatch(name):
        raise ValueError("a header name holds characters it must not")
    if lowered in _OWN:
        raise ValueError(f"the header {lowered} is set by the client itself")
    if lowered != name:
        raise ValueError(f"header names are lower-case here: {lowered}")
    if len(_good_names) < 1024:
        _good_names.add(name)


def _blame(headers: tuple[tuple[str, str], ...], method: str) -> None:
    for name, value in headers:
        if any(c in "\r\n\0" or ord(c) > 255 for c in value):
            raise ValueError(f"the value of the header {name} holds characters it must not")
    raise ValueError(f"not a method: {method!r}")
