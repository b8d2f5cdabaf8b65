"""The response object that callers get: what they asked, repeated, and what came of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Raw

from zurelay.chat.problems import Problem
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_chat.view import given
from zurelay.formats.openai_responses import usage as counts
from zurelay.formats.tool_ids import base62
from zurelay.wire import json

Json = dict[str, Any]

_REPEATED: Json = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "user": None,
}
"""What a response repeats of its request, with what stands there if it was left out."""

_FIXED: Json = {
    "background": False,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "service_tier": "default",
    "store": False,
    "truncation": "disabled",
}
_FUNCTION: Json = {"description": None, "parameters": None, "strict": None}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def item_id(context: AnswerContext, prefix: str, place: int) -> str:
    """The id of an item; the same for the same answer and place."""
    return f"{prefix}_{base62(f'{context.answer_id}:{place}', 24)}"


def repeated(asked: Mapping[str, Raw]) -> Json:
    """The fields of every response object to this request."""
    out = {
        name: asked[name] if name in asked and given(asked[name]) else default
        for name, default in _REPEATED.items()
    }
    tools = json.decode(asked["tools"]) if "tools" in asked else None
    out["tools"] = Raw(json.encode([_tool(tool) for tool in tools or ()]))
    reasoning = json.decode(asked["reasoning"]) if "reasoning" in asked else None
    out["reasoning"] = {"effort": None, "summary": None, **(reasoning or {})}
    text = json.decode(asked["text"]) if "text" in asked else None
    out["text"] = {**(text or {}), "format": (text or {}).get("format") or {"type": "text"}}
    return out | _FIXED


def _tool(tool: Json) -> Json:
    return {**_FUNCTION, **tool} if tool["type"] == "function" else tool


def response(
    context: AnswerContext,
    same: Json,
    status: str,
    output: Sequence[Json] = (),
    usage: Usage | None = None,
    problem: Problem | None = None,
    reason: str = "",
) -> Json:
    """A response object. `same` is what `repeated` gave, `reason` the finish reason."""
    why = _INCOMPLETE.get(reason) if status == "incomplete" else None
    return {
        "id": context.answer_id,
        "object": "response",
        "created_at": context.created,
        "completed_at": None,
        "status": status,
        "error": None if problem is None else _error(problem),
        "incomplete_details": None if why is None else {"reason": why},
        "model": context.model,
        "output": list(output),
        "usage": None if usage is None else counts.write(usage),
        **same,
    }


def _error(problem: Problem) -> Json:
    return {
        "code": problem.code or "server_error",
        "message": problem.message,
        "type": problem.type,
        "param": problem.param,
    }


def status_of(reason: str) -> str:
    """The status of an answer by its finish reason."""
    return "incomplete" if reason in _INCOMPLETE else "completed"
