"""The arguments of a call, as a model wrote them: text that is JSON once it is all there.

Pure functions. Knows no format, and no tool that the arguments are for.
"""

from msgspec import Raw

from zurelay.wire import json

_EMPTY = Raw(b"{}")


def complete(arguments: str) -> bool:
    """Whether a call has all its arguments, as far as can be told."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        json.decode(arguments.encode("utf-8", "surrogatepass"))
    except json.BadJson:
        return False
    return True


def as_object(arguments: str) -> Raw:
    """The model's own bytes where they are an object; an empty one for anything else."""
    try:
        raw = arguments.strip().encode()
        json.fields(raw)
    except (json.BadJson, UnicodeEncodeError):
        return _EMPTY
    return Raw(raw)
