"""A Responses request for an upstream, written from the neutral form.

Always stateless: nothing is stored, earlier thinking travels in its encrypted form, and item ids
are never sent. A pure function; a longer conversation starts with the items of the shorter one.
Limits of the format: vendor's API reference, 2026-11-29.
"""

from collections.abc import Iterable
from typing import Any

from zurelay.chat import problems
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
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats import cache_marks, instructions
from zurelay.formats.base import Outbound, Target
from zurelay.formats.openai_responses import ORIGIN
from zurelay.formats.origin import may_read
from zurelay.formats.reported import reported
from zurelay.formats.schema import NO_PARAMETERS
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

Json = dict[str, Any]

PATH = "/responses"
LEAST_OUTPUT = 16
"""Smaller limits are a 400."""

DROPS = ("seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs")
"""What this format has no place for, or what its answers are not read for."""

_SAMPLING = ("temperature", "top_p")
_KEPT_EXTRA = ("prompt_cache_retention", "prompt_cache_options")
"""Fields that mean the same on OpenAI's two endpoints."""

_ENDINGS = {"application/pdf": "pdf", "text/plain": "txt", "text/markdown": "md", "text/csv": "csv"}


def write(asked: Request, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    if asked.n > 1:
        told = "This model gives one answer at a time: 'n' must be 1."
        raise Refused(problems.invalid_value("n", told))
    dropped = [name for name in DROPS if getattr(asked, name) is not None]
    first = instructions.leading(asked.turns)
    if any(cache_marks.written(p, target.profile) for t in asked.turns[:first] for p in t.parts):
        first = 0  # only parts carry breakpoints
    body: Json = {"model": target.upstream_model, "store": False}
    if first:
        body["instructions"] = "\n\n".join(instructions.texts(asked.turns[:first]))
    body["input"] = [item for turn in asked.turns[first:] for item in _items(turn, target, dropped)]
    body |= _limit(asked, target, dropped)
    body |= _sampling(asked, target, dropped)
    body |= _tools(asked, target, body["input"], dropped)
    body |= _text(asked)
    body |= _reasoning(target)
    body |= _cache_and_tier(asked, target, dropped)
    if target.stream:
        body["stream"] = True
    dropped += reported(name for name, value in asked.extra.items() if body.get(name) != value)
    return Outbound(
        PATH,
        json.encode(body),
        tuple(dict.fromkeys(dropped)),
        stop=asked.stop,
        must_call="tool_choice" in dropped,
    )


def _items(turn: Turn, target: Target, dropped: list[str]) -> Iterable[Json]:
    """The items of one turn."""
    if turn.name is not None:
        dropped.append("messages[].name")
    if turn.role == "assistant":
        yield from _assistant(turn, target)
        return
    rest: list[Json] = []
    for part in turn.parts:
        if isinstance(part, ToolResult):
            call_id = legal(part.call_id, "max64")
            yield {"type": "function_call_output", "call_id": call_id, "output": _output(part)}
        else:
            rest.append(_input_part(part) | cache_marks.written(part, target.profile))
    if rest:
        role = "developer" if turn.role == "system" else turn.role
        alone = len(rest) == 1 and rest[0].keys() == {"type", "text"}
        yield {"role": role, "content": rest[0]["text"] if alone else rest}


def _output(result: ToolResult) -> object:
    texts = [part.text for part in result.parts if isinstance(part, Text)]
    error = "Error: " if result.is_error else ""
    if len(texts) == len(result.parts):
        return error + "\n\n".join(texts)
    marked: list[Part] = [Text(error.rstrip()), *result.parts] if error else [*result.parts]
    return [_input_part(part) for part in marked]


def _assistant(turn: Turn, target: Target) -> Iterable[Json]:
    """Thinking stands before what it led to; thinking that led to nothing is a 400."""
    waiting: list[Json] = []
    said: list[Json] = []
    for part in turn.parts:
        item: Json | None = None
        if isinstance(part, Thinking):
            if part.signature and may_read(part.origin, target.profile.realm, ORIGIN):
                item = {"type": "reasoning", "summary": [], "encrypted_content": part.signature}
        elif isinstance(part, Text):
            said.append({"type": "output_text", "text": part.text})
        elif isinstance(part, RefusalText):
            said.append({"type": "refusal", "refusal": part.text})
        elif isinstance(part, ToolCall):
            yield from waiting
            yield from _message(said)
            waiting, said = [], []
            yield {
                "type": "function_call",
                "call_id": legal(part.id, "max64"),
                "name": part.name,
                "arguments": part.arguments,
            }
        if item is not None:
            if said:
                yield from waiting
                yield from _message(said)
                waiting, said = [], []
            waiting.append(item)
    if said:
        yield from waiting
        yield from _message(said)


def _message(content: list[Json]) -> Iterable[Json]:
    if content:
        yield {"type": "message", "role": "assistant", "content": content}


def _input_part(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "input_text", "text": text}
        case Image():
            url = part.url or f"data:{part.media_type};base64,{part.data}"
            return {"type": "input_image", "image_url": url, "detail": part.detail or "auto"}
        case File():
            return {"type": "input_file", **_file(part)}
        case Audio():
            raise Refused(_no_place("audio"))
        case Video():
            raise Refused(_no_place("video"))
        case Thinking() | RefusalText() | ToolCall() | ToolResult():
            raise TypeError(f"{type(part).__name__} is no content of a user turn")


def _file(part: File) -> Json:
    if part.file_id is not None:
        return {"file_id": part.file_id}
    if part.url is not None:
        return {"file_url": part.url}
    kind = part.media_type or "application/pdf"
    name = part.filename or f"file.{_ENDINGS.get(kind, 'bin')}"
    return {"filename": name, "file_data": f"data:{kind};base64,{part.data}"}


def _no_place(what: str) -> problems.Problem:
    told = f"This model's provider takes no {what} together with the rest of this request."
    return problems.unsupported_content("messages", told)


def _limit(asked: Request, target: Target, dropped: list[str]) -> Json:
    limit = asked.max_output
    if limit is None:
        return {}
    held = max(limit if target.max_output is None else min(limit, target.max_output), LEAST_OUTPUT)
    if held != limit:
        dropped.append("max_completion_tokens")
    return {"max_output_tokens": held}


def _sampling(asked: Request, target: Target, dropped: list[str]) -> Json:
    profile = target.profile
    refused = profile.refused(thinks=target.thinks)
    out: Json = {}
    for name in _SAMPLING:
        value = getattr(asked, name)
        if value is not None and name in refused:
            dropped.append(name)
        elif value is not None:
            out[name] = value
    return out


def _tools(asked: Request, target: Target, items: list[Json], dropped: list[str]) -> Json:
    if not asked.tools:
        return {}
    out: Json = {"tools": [_tool(tool) for tool in asked.tools]}
    if asked.parallel_tool_calls is not None:
        out["parallel_tool_calls"] = asked.parallel_tool_calls
    choice = asked.tool_choice
    if choice is None:
        return out
    forcing = target.profile.forced_tools
    forced = choice.mode in ("required", "named")
    if forced and (forcing == "never" or (forcing == "not_thinking" and target.thinks)):
        dropped.append("tool_choice")
        items.append({"role": "developer", "content": call_line(choice)})
        return {**out, "tool_choice": "auto"}
    named = choice.mode == "named"
    return {
        **out,
        "tool_choice": {"type": "function", "name": choice.name} if named else choice.mode,
    }


def call_line(choice: ToolChoice) -> str:
    """What a model is told that may not be forced."""
    if choice.mode == "named":
        return f"You must answer with a call of the tool `{choice.name}`."
    return "You must answer with a call of at least one of the tools."


def _tool(tool: Tool) -> Json:
    """Without `strict: false` this format tries strict, which Chat Completions does not."""
    description = {} if tool.description is None else {"description": tool.description}
    parameters = tool.parameters or NO_PARAMETERS
    strict = bool(tool.strict)
    return {
        "type": "function",
        "name": tool.name,
        **description,
        "parameters": parameters,
        "strict": strict,
    }


def _text(asked: Request) -> Json:
    text: Json = {}
    if asked.answer_format is not None:
        text["format"] = _format(asked.answer_format)
    if asked.verbosity is not None:
        text["verbosity"] = asked.verbosity
    return {"text": text} if text else {}


def _format(wanted: AnswerFormat) -> Json:
    if wanted.kind == "json_object":
        return {"type": "json_object"}
    given: Json = {"type": "json_schema", "name": wanted.name or "answer"}
    if wanted.description is not None:
        given["description"] = wanted.description
    return {**given, "schema": wanted.schema or {}, "strict": bool(wanted.strict)}


def _reasoning(target: Target) -> Json:
    """The level, and the thinking in all the forms that are shared.

    Nothing for models that may not think at all: they refuse each of these fields.
    """
    level = target.effort
    if level is None and target.effort_default is None and not target.reasons:
        return {}
    wanted: Json = {}
    if level is not None:
        wanted["effort"] = dict(target.profile.effort_words).get(level, level)
    if not target.thinks:
        return {"reasoning": wanted} if wanted else {}
    if target.profile.thinking_summary:
        wanted["summary"] = "auto"
    reasoning: Json = {"reasoning": wanted} if wanted else {}
    return {**reasoning, "include": ["reasoning.encrypted_content"]}


def _cache_and_tier(asked: Request, target: Target, dropped: list[str]) -> Json:
    out: Json = {name: asked.extra[name] for name in _KEPT_EXTRA if name in asked.extra}
    cache_key = asked.prompt_cache_key and (target.cache_key or asked.prompt_cache_key)
    if cache_key:
        out["prompt_cache_key"] = cache_key
    if asked.service_tier is not None:
        if "service_tier" in target.allows:
            out["service_tier"] = asked.service_tier
        else:
            dropped.append("service_tier")
    return out
