"""JSON as this program needs it: views over bytes, an encoder that never fails, a bound on depth.

Knows no format's fields. Parsing keeps the last of repeated keys, as most parsers do; whoever edits
re-encodes the fields it parsed, so that what was checked is what is sent.
"""

import json
import re
from typing import Any

import msgspec
from msgspec import Raw

MAX_DEPTH = 100
"""Most nested arrays and objects in a caller's body."""

_FIELDS: "msgspec.json.Decoder[dict[str, Raw]]" = msgspec.json.Decoder(dict[str, Raw])
_ANY = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'{}[]"')
_ONE_BRACKET = bytes.maketrans(b"{}", b"[]")
_STRING = re.compile(rb'"[^"]*"')
_STRUCTURAL = (b",", b":", b"[", b"{")


class BadJson(ValueError):  # noqa: N818 - says what it is
    """Bytes that are no JSON, or not the kind asked for; the text says what is wrong."""


def fields(data: bytes) -> dict[str, Raw]:
    """The top level of an object, each value as its own bytes, in the order they stand.

    Values are checked for grammar, not for UTF-8 nor lone surrogates.

    Raises:
        BadJson: no JSON object.
    """
    try:
        return _FIELDS.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadJson(_told(error)) from None


def upstream_fields(data: bytes) -> dict[str, Raw]:
    """Like `fields`, for what a model wrote: see `decode` and `readable`."""
    try:
        return fields(data)
    except BadJson:
        value = decode(data)
        if not isinstance(value, dict):
            raise
        return {name: Raw(encode(item)) for name, item in value.items()}


def decode(data: bytes | Raw) -> Any:
    """Any JSON value; takes the lone surrogates that some models split an emoji into.

    Raises:
        BadJson: no JSON.
    """
    try:
        return _ANY.decode(data)
    except RecursionError as error:
        raise BadJson(_told(error)) from None
    except msgspec.DecodeError as error:
        try:
            return json.loads(bytes(data), parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise BadJson(_told(error)) from None


def readable(data: bytes) -> bytes:
    """`data` as valid UTF-8; bytes that are none become U+FFFD."""
    if data.isascii():
        return data
    return data.decode("utf-8", "replace").encode()


def encode(value: Any) -> bytes:
    """`value` as compact JSON; lone surrogates come out as escapes."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return json.dumps(_plain(value), separators=(",", ":")).encode()


def too_deep(data: bytes, limit: int = MAX_DEPTH) -> bool:
    """Whether valid JSON nests deeper than `limit`.

    Exact, and without a step per token: brackets are all that is kept, strings go, then matched
    pairs are taken out from the inside, one level a round.
    """
    if data.count(b"{") + data.count(b"[") <= limit:
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Neighbouring quotes close one string and open the next, or hold an empty one: both may go.
    data = data.translate(_ONE_BRACKET, _NOT_STRUCTURE).replace(b'""', b"")
    if b'"' in data:
        data = _STRING.sub(b"", data)
    for _ in range(limit):
        if not data:
            return False
        data = data.replace(b"[]", b"")
    return bool(data)


def weight(data: bytes) -> int:
    """Structural characters, those inside of strings included: what reading it takes, about."""
    return sum(data.count(mark) for mark in _STRUCTURAL)


def _told(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "JSON is nested too deeply"
    return str(error)


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def _plain(value: Any) -> Any:
    """`value` with views and their surroundings parsed, for the slower encoder."""
    if isinstance(value, Raw):
        return json.loads(bytes(value))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
