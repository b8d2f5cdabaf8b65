"""The sandbox's Chat Completions dialect: reads a request body, writes answers, chunks and errors.

Written on its own, not on `formats/openai_chat`: what a test sends through both must not be able
to go wrong in the same way twice. Shapes and order of chunks: protocol of OpenAI, 2026-11.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from zurelay.chat.events import (
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.problems import Problem, Refused, invalid_value, missing
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice
from zurelay.chat.usage import Usage
from zurelay.sandbox.base import Identity, Step
from zurelay.sandbox.draft import Ask
from zurelay.sandbox.openai_messages import read_turns
from zurelay.sandbox.reading import decoded, mapping
from zurelay.sandbox.script import Beat, Ending, Script

_FINGERPRINT = "fp_sandbox"
_MOST_CHOICES = 128


class _Options(msgspec.Struct):
    include_usage: bool | None = None


class _Function(msgspec.Struct):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class _Tool(msgspec.Struct):
    type: str = "function"
    function: _Function | None = None


class _Schema(msgspec.Struct):
    name: str | None = None
    description: str | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None


class _ResponseFormat(msgspec.Struct):
    type: str
    json_schema: _Schema | None = None


class _Body(msgspec.Struct):
    model: str | None = None
    messages: list[dict[str, Any]] | None = None
    stream: bool | None = None
    stream_options: _Options | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    tools: list[_Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: _ResponseFormat | None = None
    reasoning_effort: str | None = None


_decoder = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


class OpenAIChat:
    """See `base.Dialect`."""

    paths: tuple[str, ...] = ("/chat/completions",)
    request_id_header = "x-request-id"
    tells_retry_after = True

    def read(self, body: bytes, route: str = "") -> Ask:
        """Read a request body; the path does not matter.

        Raises:
            Refused: no JSON object, or a field of the wrong type or value; names the field.
        """
        del route
        asked = decoded(_decoder, body)
        if asked.model is None:
            raise Refused(missing("model"))
        if not asked.messages:
            raise Refused(missing("messages", "messages must hold at least one message."))
        choices = 1 if asked.n is None else asked.n
        if not 1 <= choices <= _MOST_CHOICES:
            raise Refused(invalid_value("n", f"n must be from 1 to {_MOST_CHOICES}."))
        limit = asked.max_completion_tokens
        limit = asked.max_tokens if limit is None else limit
        if limit is not None and limit < 0:
            raise Refused(invalid_value("max_completion_tokens", "The limit must not be negative."))
        stop = [asked.stop] if isinstance(asked.stop, str) else asked.stop or []
        request = Request(
            turns=read_turns(asked.messages),
            max_output=limit,
            stop=tuple(stop),
            tools=_tools(asked),
            tool_choice=_tool_choice(asked.tool_choice),
            parallel_tool_calls=asked.parallel_tool_calls,
            answer_format=_answer_format(asked.response_format),
            effort=asked.reasoning_effort,
            n=choices,
        )
        options = asked.stream_options
        return Ask(
            model=asked.model,
            request=request,
            stream=bool(asked.stream),
            include_usage=bool(options is not None and options.include_usage),
        )

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """A `chat.completion` object: the fold of the same events a stream would bring."""
        choices = [_choice(script.beats, index) for index in range(ask.request.n)]
        return _encode(
            {
                "id": f"chatcmpl-{identity.seed}",
                "object": "chat.completion",
                "created": identity.created,
                "model": ask.model,
                "choices": choices,
                "usage": usage_object(script.usage),
                "service_tier": "default",
                "system_fingerprint": _FINGERPRINT,
            }
        )

    def stream(self, ask: Ask, script: Script, identity: Identity) -> Iterable[Step]:
        """Chunks in OpenAI's order: role, content, finish, usage if asked for, `[DONE]`."""
        return _chunks(ask, script, identity)

    def problem(self, problem: Problem, identity: Identity) -> bytes:
        """An error body; `identity` does not show in it."""
        del identity
        return _encode({"error": error_object(problem)})


def _chunks(ask: Ask, script: Script, identity: Identity) -> Iterator[Step]:
    if script.silent:
        return
    head = _encode(
        {
            "id": f"chatcmpl-{identity.seed}",
            "object": "chat.completion.chunk",
            "created": identity.created,
            "model": ask.model,
            "service_tier": "default",
            "system_fingerprint": _FINGERPRINT,
        }
    )
    head = b"data: " + head[:-1]
    tail = b',"usage":null}\n\n' if ask.include_usage else b"}\n\n"

    def chunk(index: int, delta: bytes, finish: bytes = b"null") -> bytes:
        return b'%s,"choices":[{"index":%d,"delta":%s,"logprobs":null,"finish_reason":%s}]%s' % (
            head,
            index,
            delta,
            finish,
            tail,
        )

    opened = script.beats[0].event if script.beats else None
    content = b"null" if isinstance(opened, ToolCallStarted | RefusalDelta) else b'""'
    role = b'{"role":"assistant","content":%s,"refusal":null}' % content
    for index in range(ask.request.n):
        yield Step(0.0, chunk(index, role))
    for beat in script.beats:
        event = beat.event
        match event:
            case TextDelta(text, index):
                yield Step(beat.at, chunk(index, b'{"content":%s}' % _encode(text)))
            case ThinkingDelta(text, index):
                yield Step(beat.at, chunk(index, b'{"reasoning_content":%s}' % _encode(text)))
            case RefusalDelta(text, index):
                yield Step(beat.at, chunk(index, b'{"refusal":%s}' % _encode(text)))
            case ToolCallStarted() | ToolCallDelta():
                delta = _encode({"tool_calls": [_call_delta(event)]})
                yield Step(beat.at, chunk(event.choice, delta))
            case Stopped(reason, index, _):
                yield Step(beat.at, chunk(index, b"{}", _encode(reason)))
            case ThinkingStarted() | ThinkingSigned() | UsageSeen():
                pass  # this format has no place for them
    if script.failure is not None:
        yield Step(
            script.ends_at, b"data: %s\n\n" % _encode({"error": error_object(script.failure)})
        )
    elif script.ending is Ending.WHOLE:
        if ask.include_usage:
            counts = _encode(usage_object(script.usage))
            yield Step(script.ends_at, b'%s,"choices":[],"usage":%s}\n\n' % (head, counts))
        yield Step(script.ends_at, b"data: [DONE]\n\n")


def _call_delta(event: ToolCallStarted | ToolCallDelta) -> dict[str, Any]:
    if isinstance(event, ToolCallDelta):
        return {"index": event.index, "function": {"arguments": event.arguments}}
    return {
        "index": event.index,
        "id": event.id,
        "type": "function",
        "function": {"name": event.name, "arguments": ""},
    }


def _choice(beats: Iterable[Beat], wanted: int) -> dict[str, Any]:
    """One choice of a plain answer, folded from the events of its stream."""
    text: list[str] = []
    thinking: list[str] = []
    refusal: list[str] = []
    calls: list[tuple[ToolCallStarted, list[str]]] = []
    finish = None
    for beat in beats:
        match beat.event:
            case TextDelta(piece, choice) if choice == wanted:
                text.append(piece)
            case ThinkingDelta(piece, choice) if choice == wanted:
                thinking.append(piece)
            case RefusalDelta(piece, choice) if choice == wanted:
                refusal.append(piece)
            case ToolCallStarted() as call if call.choice == wanted:
                calls.append((call, []))
            case ToolCallDelta(_, piece, choice) if choice == wanted:
                calls[-1][1].append(piece)
            case Stopped(reason, choice, _) if choice == wanted:
                finish = reason
            case _:
                pass
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if (calls or refusal) and not text else "".join(text),
        "refusal": "".join(refusal) or None,
        "annotations": [],
    }
    if thinking:
        message["reasoning_content"] = "".join(thinking)
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": "".join(pieces)},
            }
            for call, pieces in calls
        ]
    return {"index": wanted, "message": message, "logprobs": None, "finish_reason": finish}


def usage_object(usage: Usage) -> dict[str, Any]:
    """Token counts in OpenAI's form: the prompt includes cache reads and writes."""
    prompt = {"cached_tokens": usage.cached_input, "audio_tokens": 0}
    if usage.cache_write:
        prompt["cache_write_tokens"] = usage.cache_write
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.total,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning or 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def error_object(problem: Problem) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {
        "message": problem.message,
        "type": problem.type,
        "param": problem.param,
        "code": problem.code,
    }


def _tools(asked: _Body) -> tuple[Tool, ...]:
    """The function tools; of `allowed_tools` only those."""
    tools = [
        Tool(
            name=tool.function.name,
            description=tool.function.description,
            parameters=tool.function.parameters,
            strict=tool.function.strict,
        )
        for tool in asked.tools or ()
        if tool.function is not None
    ]
    choice = asked.tool_choice
    if isinstance(choice, Mapping) and choice.get("type") == "allowed_tools":
        allowed = mapping(choice.get("allowed_tools")).get("tools")
        names = {
            mapping(mapping(entry).get("function")).get("name")
            for entry in (allowed if isinstance(allowed, list) else ())
        }
        tools = [tool for tool in tools if tool.name in names]
    return tuple(tools)


def _tool_choice(choice: str | Mapping[str, Any] | None) -> ToolChoice | None:
    match choice:
        case None:
            return None
        case "none" | "auto" | "required":
            return ToolChoice(choice)
        case {"type": "function", "function": {"name": str(name)}}:
            return ToolChoice("named", name)
        case {"type": "allowed_tools"}:
            return ToolChoice("auto")
        case _:
            raise Refused(
                invalid_value("tool_choice", "tool_choice must be none, auto, required or a tool.")
            )


def _answer_format(wanted: _ResponseFormat | None) -> AnswerFormat | None:
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return AnswerFormat("json_object")
    if wanted.type == "json_schema" and wanted.json_schema is not None:
        schema = wanted.json_schema
        return AnswerFormat(
            "json_schema", schema.name, schema.schema, schema.description, schema.strict
        )
    raise Refused(
        invalid_value(
            "response_format", "response_format must be text, json_object or json_schema."
        )
    )
