"""A request for an upstream of this format, built from the neutral form.

Built first as any caller might have written it, then edited like a caller's own, so that a quirk
is obeyed in one place whatever format the request came in.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    Part,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Video,
)
from zurelay.chat.profile import Profile
from zurelay.chat.request import AnswerFormat, Request, ToolChoice, Turn
from zurelay.formats import cache_marks
from zurelay.formats.base import Inbound, Outbound, Target
from zurelay.formats.openai_chat import checks, edit, messages
from zurelay.formats.openai_chat.view import REQUEST
from zurelay.formats.origin import is_foreign
from zurelay.formats.reported import reported
from zurelay.formats.seen import Seen
from zurelay.wire import json

Json = dict[str, Any]

NAME = "openai_chat"


def write(request: Request, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    body = json.encode(_body(request, target.profile))
    view = REQUEST.decode(body)
    seen = Seen()
    messages.check(view.messages, seen)
    checks.tools(view, seen)
    inbound = Inbound(
        front=NAME,
        body=json.fields(body),
        model=target.public_model,
        max_output=request.max_output,
        choices=request.n,
        needs=seen.needs,
        stop=request.stop,
        marks=frozenset(seen.marks),
    )
    outbound = edit.write(inbound, target)
    return msgspec.structs.replace(
        outbound, dropped=tuple(dict.fromkeys((*outbound.dropped, *reported(request.extra))))
    )


def _body(request: Request, profile: Profile) -> Json:
    fields: Json = {
        "messages": [message for turn in request.turns for message in _messages(turn, profile)],
        "max_completion_tokens": request.max_output,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": list(request.stop) or None,
        "tools": [_tool(tool.name, tool) for tool in request.tools] or None,
        "tool_choice": _choice(request.tool_choice),
        "parallel_tool_calls": request.parallel_tool_calls if request.tools else None,
        "response_format": _format(request.answer_format),
        "seed": request.seed,
        "n": request.n if request.n > 1 else None,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "logit_bias": request.logit_bias,
        "logprobs": request.logprobs,
        "top_logprobs": request.top_logprobs,
        "verbosity": request.verbosity,
        "prompt_cache_key": request.prompt_cache_key,
        "service_tier": request.service_tier,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _tool(name: str, tool: Any) -> Json:
    function = {
        "name": name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict,
    }
    given = {key: value for key, value in function.items() if value is not None}
    return {"type": "function", "function": given}


def _choice(choice: ToolChoice | None) -> object:
    if choice is None:
        return None
    if choice.mode == "named":
        return {"type": "function", "function": {"name": choice.name}}
    return choice.mode


def _format(wanted: AnswerFormat | None) -> Json | None:
    if wanted is None:
        return None
    if wanted.kind == "json_object":
        return {"type": "json_object"}
    schema = {
        "name": wanted.name or "answer",
        "description": wanted.description,
        "schema": wanted.schema,
        "strict": wanted.strict,
    }
    given = {key: value for key, value in schema.items() if value is not None}
    return {"type": "json_schema", "json_schema": given}


def _messages(turn: Turn, profile: Profile) -> Iterable[Json]:
    """The messages of one turn: tool results first, each its own, then the rest."""
    if turn.role == "assistant":
        yield _assistant(turn, profile.realm)
        return
    aside: list[Part] = []
    rest: list[Part] = []
    for part in turn.parts:
        if isinstance(part, ToolResult):
            yield _result(part, aside)
        else:
            rest.append(part)
    content = [*aside, *rest]
    if content:
        named = {"name": turn.name} if turn.name else {}
        yield {"role": turn.role, **named, "content": _content(content, profile)}


def _result(result: ToolResult, aside: list[Part]) -> Json:
    """A tool message holds text alone: pictures and files go after the last one."""
    texts = [part.text for part in result.parts if isinstance(part, Text)]
    media = [part for part in result.parts if not isinstance(part, Text)]
    aside += media
    if media and not texts:
        texts = ["The result follows in the next message."]
    text = "\n\n".join(texts)
    if result.is_error:
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": result.call_id, "content": text}


def _assistant(turn: Turn, realm: str) -> Json:
    """What the model said; thinking of another vendor is dropped whole, not shown as words."""
    message: Json = {"role": "assistant"}
    texts = [part.text for part in turn.parts if isinstance(part, Text)]
    refusals = [part.text for part in turn.parts if isinstance(part, RefusalText)]
    thoughts = [part for part in turn.parts if isinstance(part, Thinking)]
    if any(is_foreign(part.origin, realm) for part in thoughts):
        thoughts = []
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    message["content"] = "\n\n".join(texts) if texts or not (calls or refusals) else None
    if refusals:
        message["refusal"] = "\n\n".join(refusals)
    thought = "".join(part.text for part in thoughts)
    if thought:
        message["reasoning_content"] = thought
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    return message


def _content(parts: list[Part], profile: Profile) -> object:
    marks = [cache_marks.written(part, profile) for part in parts]
    if len(parts) == 1 and isinstance(parts[0], Text) and not marks[0]:
        return parts[0].text
    return [_part(part) | mark for part, mark in zip(parts, marks, strict=True)]


def _part(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image():
            url = part.url or f"data:{part.media_type};base64,{part.data}"
            detail = {"detail": part.detail} if part.detail else {}
            return {"type": "image_url", "image_url": {"url": url, **detail}}
        case File():
            data = part.url or f"data:{part.media_type};base64,{part.data}"
            name = {"filename": part.filename} if part.filename else {}
            return {"type": "file", "file": {**name, "file_data": data}}
        case Audio(data, kind):
            return {"type": "input_audio", "input_audio": {"data": data, "format": kind}}
        case Video(url):
            return {"type": "video_url", "video_url": {"url": url}}
        case Thinking() | RefusalText() | ToolCall() | ToolResult():
            raise TypeError(f"{type(part).__name__} is no content of a user turn")
