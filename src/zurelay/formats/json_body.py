"""A caller's body as a JSON object, its fields kept as bytes; the same for every front."""

from msgspec import Raw

from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.wire import json


def fields(body: bytes) -> dict[str, Raw]:
    """The top-level fields of a decoded body; raises Refused for what is no JSON object."""
    try:
        found = json.fields(body)
        deep = json.too_deep(body)
        if not body.isascii():
            body.decode()
    except json.BadJson as error:
        raise Refused(bad(str(error))) from None
    except UnicodeDecodeError as error:
        raise Refused(bad(f"byte {error.start} is no UTF-8")) from None
    if deep:
        raise Refused(bad(f"it nests more than {json.MAX_DEPTH} levels"))
    return found


def bad(why: str) -> Problem:
    """400: the body is no JSON object."""
    return problems.invalid_json(f"The body must be a JSON object: {why}.")
