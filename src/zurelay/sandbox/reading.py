"""What all dialects need to read a body: decoding with problems that name the field.

Knows no wire format.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from zurelay.chat.problems import Refused, invalid_json, invalid_value

T = TypeVar("T")


def decoded(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """The body as `decoder` types it.

    Raises:
        Refused: 400; no JSON object, or a field of the wrong type, which is named.
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        path = place.rstrip("`").lstrip(".") or None
        if path is None:
            raise Refused(invalid_json(f"The body must be a JSON object. {what}.")) from error
        raise Refused(invalid_value(path, f"{what} at '{path}'.")) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(invalid_json(f"The body is no valid JSON: {error}.")) from error


def bad(path: str, message: str) -> Refused:
    """A 400 that blames the field at `path`, to be raised."""
    return Refused(invalid_value(path, message))


def mapping(value: object) -> Mapping[str, Any]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def string(fields: Mapping[str, Any], name: str) -> str | None:
    """A field where it is a string."""
    value = fields.get(name)
    return value if isinstance(value, str) else None


def level_of_budget(tokens: int) -> str:
    """The effort level that a thinking budget in tokens stands for."""
    if tokens <= 0:
        return "none"
    steps = ((1024, "minimal"), (4096, "low"), (12_000, "medium"), (32_000, "high"))
    return next((level for most, level in steps if tokens <= most), "xhigh")


def as_json(value: object) -> str:
    """`value` as JSON text, such as the arguments of a call."""
    return msgspec.json.encode(value).decode()
