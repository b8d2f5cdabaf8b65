"""Asks for the count of a prompt instead of an answer: `countTokens`.

Works on the request that would be sent for the answer. Shapes: vendor's API reference, 2026-11-29.
"""

import msgspec

from zurelay.chat.request import Request
from zurelay.formats.base import Outbound, Target
from zurelay.formats.gemini import request
from zurelay.wire import json

_METHOD = ":countTokens"
_AT_VERTEX = frozenset({"contents", "systemInstruction", "tools", "generationConfig"})
"""The fields that Vertex AI counts, at the top level."""


def write(asked: Request, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    whole = request.write(asked, msgspec.structs.replace(target, stream=False))
    path = whole.path.rpartition(":")[0] + _METHOD
    fields = json.fields(whole.body)
    if target.profile.path_prefix:
        body: dict[str, object] = {n: raw for n, raw in fields.items() if n in _AT_VERTEX}
    else:
        model = f"models/{target.upstream_model}"
        body = {"generateContentRequest": {"model": model, **fields}}
    return msgspec.structs.replace(whole, path=path, body=json.encode(body))


def read(body: bytes) -> int | None:
    """The count in an answer, None where it holds none."""
    try:
        found = json.decode(body)
    except json.BadJson:
        return None
    count = found.get("totalTokens") if isinstance(found, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None
