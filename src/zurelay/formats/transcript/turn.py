"""A conversation as people read it: who said what, in pieces of a few kinds."""

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from zurelay.wire.json import too_deep, weight

Kind = Literal["text", "thinking", "refusal", "call", "result", "file", "error", "note"]

Json = dict[str, Any]

HEAVIEST: Final = 1_000_000
"""Structural characters above which JSON is not read here; about 100 ms of work."""
DEEPEST: Final = 32
"""Levels below which nothing is laid out: a line of each would begin with as much white space."""


class Piece(msgspec.Struct, frozen=True):
    """A part of what was said.

    Attributes:
        kind: `call`: `name` is the tool's, `text` its arguments. `result`: what a tool gave, `name`
            the call's id. `file`: `text` says what it was. `note`: something that is none of these.
    """

    kind: Kind
    text: str
    name: str = ""


class Turn(msgspec.Struct, frozen=True):
    """What one side said at once; `role` as its format calls it."""

    role: str
    pieces: list[Piece]


def decoded(data: bytes) -> Any:
    """JSON, or None for what is none, or too much to read."""
    try:
        return None if weight(data) > HEAVIEST else msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def objects(value: object) -> list[Json]:
    """The objects in a list; nothing for what is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def events(stream: bytes) -> Iterator[Json]:
    """The objects in the data of an event stream, the last one too if it was cut."""
    for line in stream.replace(b"\r\n", b"\n").split(b"\n"):
        if line.startswith(b"data:"):
            found = decoded(line[5:].strip())
            if isinstance(found, dict):
                yield found


def text_of(value: object) -> str:
    """A value as text: text as it is, all else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else shown(value)


def shown(value: object) -> str:
    """JSON for people."""
    text = msgspec.json.encode(value)
    return laid_out(text) or text.decode()


def laid_out(text: bytes) -> str | None:
    """JSON with a line for each value; None for what is none, or would become too long."""
    try:
        if weight(text) > HEAVIEST or too_deep(text, DEEPEST):
            return None
        return msgspec.json.format(text, indent=2).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def arguments(text: object) -> str:
    """The arguments of a call, laid out if they are whole."""
    if not isinstance(text, str):
        return text_of(text)
    found = decoded(text.encode("utf-8", "surrogatepass"))
    return shown(found) if isinstance(found, dict | list) else text


def texts_of(value: object) -> str:
    """All text in content that is text, or a list of parts with text."""
    if isinstance(value, str):
        return value
    parts = [text_of(one.get("text", one.get("content"))) for one in objects(value)]
    return "\n".join(part for part in parts if part) or text_of(value or "")


def fault(value: object) -> list[Turn]:
    """The turn of an error that was told; none if it is no error."""
    if not isinstance(value, dict) or not isinstance(value.get("error"), dict):
        return []
    error = value["error"]
    kind = error.get("code") or error.get("type")
    return [Turn("error", [Piece("error", text_of(error.get("message")), text_of(kind))])]


def turn(role: object, pieces: list[Piece]) -> list[Turn]:
    """A turn, if there is something in it."""
    kept = [piece for piece in pieces if piece.text or piece.name]
    return [Turn(str(role or "?"), kept)] if kept else []
