"""The items of an answer as callers get them, one by one. Knows no order and no events."""

from collections.abc import Mapping, Sequence
from typing import Any

from zurelay.chat.events import ThinkingSigned
from zurelay.chat.parts import Thinking
from zurelay.formats.openai_responses import envelope
from zurelay.formats.openai_responses.toolbox import Offered
from zurelay.wire import json

Json = dict[str, Any]

NO_ARGUMENTS = "{}"
"""What a function is called with that is called with nothing."""


def text_part(kind: str, text: str) -> Json:
    """A content part: `text` or `refusal`."""
    if kind == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def message_item(own_id: str, status: str, parts: Sequence[Json]) -> Json:
    """What the model said."""
    content = list(parts)
    return {
        "id": own_id,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    }


def reasoning_item(own_id: str, text: str, encrypted: str | None = None) -> Json:
    """What the model thought."""
    summary = [{"type": "summary_text", "text": text}] if text else []
    proof = {} if encrypted is None else {"encrypted_content": encrypted}
    return {"id": own_id, "type": "reasoning", "summary": summary, **proof}


def proof_item(own_id: str, text: str, proof: ThinkingSigned | Thinking | None) -> Json:
    """What the model thought, with the proof that came with it, if any."""
    if proof is None or not proof.signature:
        return reasoning_item(own_id, text)
    sealed = envelope.seal(proof.signature, proof.origin, proof.redacted, proof.call_id)
    return reasoning_item(own_id, text, sealed)


def call_item(own_id: str, call_id: str, tool: Offered, said: str, status: str) -> Json:
    """A call of a function, or of a custom tool whose input is plain text."""
    space = {} if tool.namespace is None else {"namespace": tool.namespace}
    return {
        "id": own_id,
        "type": "custom_tool_call" if tool.custom else "function_call",
        "status": status,
        "call_id": call_id,
        "name": tool.name,
        **space,
        "input" if tool.custom else "arguments": said,
    }


def called(name: str, offered: Mapping[str, Offered]) -> Offered:
    """The tool that the model called `name`; one nobody offered is a function of that name."""
    return offered.get(name) or Offered({"type": "function", "name": name})


def custom_input(arguments: str) -> str:
    """The text inside the function's one argument; all of it where there is none."""
    try:
        found = json.decode(arguments.encode("utf-8", "surrogatepass"))
    except json.BadJson:
        return arguments
    text = found.get("input") if isinstance(found, dict) else None
    return text if isinstance(text, str) else arguments
