"""The sandbox's Messages dialect: reads a request body, writes answers, events and errors.

Written on its own, not on `formats/anthropic`: what a test sends through both must not be able to
go wrong in the same way twice. Shapes, order of events and errors: protocol of Anthropic, 2026-11.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from zurelay.chat.problems import Problem, Refused, invalid_value, missing
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice
from zurelay.chat.usage import Usage
from zurelay.sandbox.anthropic_turns import read_turns, text_blocks
from zurelay.sandbox.base import Identity, Step
from zurelay.sandbox.blocks import Block, Gathered, gather
from zurelay.sandbox.draft import Ask
from zurelay.sandbox.errors import OVERFLOW, unusual_code
from zurelay.sandbox.proofs import proof
from zurelay.sandbox.reading import decoded, level_of_budget, mapping, string
from zurelay.sandbox.script import Ending, Script

Json = dict[str, Any]

_LEAST_BUDGET = 1024
_LEVELS = ("low", "medium", "high", "xhigh", "max")

_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Status -> type; others are `invalid_request_error` below 500 and `api_error` above."""


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    """The fields that this format has; others are refused, as they are there."""

    model: str | None = None
    messages: list[dict[str, Any]] | None = None
    max_tokens: int | None = None
    system: str | list[dict[str, Any]] | None = None
    stream: bool | None = None
    stop_sequences: list[str] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None
    thinking: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    metadata: Any = None
    service_tier: Any = None
    cache_control: Any = None
    speed: Any = None
    inference_geo: Any = None
    container: Any = None
    diagnostics: Any = None
    mcp_servers: Any = None
    context_management: Any = None
    compaction: Any = None


_decoder = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


class Messages:
    """See `base.Dialect`."""

    paths: tuple[str, ...] = ("/messages",)
    request_id_header = "request-id"
    tells_retry_after = True

    def read(self, body: bytes, route: str = "") -> Ask:
        """Read a request body; the path does not matter.

        Raises:
            Refused: no JSON object, or a field of the wrong type or value; names the field.
        """
        del route
        asked = decoded(_decoder, body)
        if asked.max_tokens is None:
            raise Refused(missing("max_tokens", "Field required"))
        if asked.max_tokens < 0:
            raise Refused(invalid_value("max_tokens", "Input should be greater than 0"))
        return _ask(asked, asked.max_tokens)

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """A `message` object: the fold of the same events a stream would bring."""
        told = gather(script.beats)
        return _encode(
            {
                **_message(ask, identity),
                "content": [_content(block, ask) for block in _shown(told)],
                **_ended(told),
                "usage": usage_object(script.usage),
            }
        )

    def stream(self, ask: Ask, script: Script, identity: Identity) -> Iterable[Step]:
        """Events in Anthropic's order, each with its name."""
        return _events(ask, script, identity)

    def problem(self, problem: Problem, identity: Identity) -> bytes:
        """An error body."""
        return _encode({**_error(problem), "request_id": f"req_{identity.seed}"})


class CountTokens(Messages):
    """Counts instead of answering."""

    paths: tuple[str, ...] = ("/messages/count_tokens",)

    def read(self, body: bytes, route: str = "") -> Ask:
        """As `Messages.read`; no limit is needed, and nothing streams."""
        del route
        return _ask(decoded(_decoder, body), 1, counts=True)

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """How many tokens the prompt has."""
        del ask, identity
        return _encode({"input_tokens": script.usage.prompt})


def usage_object(usage: Usage) -> Json:
    """Token counts in Anthropic's form: `input_tokens` has neither cache reads nor writes."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write + usage.cache_write_long,
        "cache_read_input_tokens": usage.cached_input,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write,
            "ephemeral_1h_input_tokens": usage.cache_write_long,
        },
        "output_tokens": usage.completion,
        "output_tokens_details": {"thinking_tokens": usage.reasoning or 0},
        "service_tier": "standard",
    }


# Answers.


def _message(ask: Ask, identity: Identity) -> Json:
    return {
        "id": f"msg_{identity.seed}",
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _shown(told: Gathered) -> list[Block]:
    """The blocks that stand in `content`; a refusal is said in `stop_details`."""
    return [block for block in told.blocks if block.kind != "refusal"]


def _content(block: Block, ask: Ask) -> Json:
    if block.kind == "thinking":
        text = block.text if ask.shows_thinking else ""
        return {"type": "thinking", "thinking": text, "signature": proof(text)}
    if block.kind == "call":
        return {**_call(block), "input": _object(block.text)}
    return {"type": "text", "text": block.text}


def _call(block: Block) -> Json:
    call_id = f"toolu_{block.call_id.removeprefix('call_')}"
    return {"type": "tool_use", "id": call_id, "name": block.name, "input": {}}


def _object(arguments: str) -> object:
    """A call's input; an empty one where the limit cut it."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return {}


def _ended(told: Gathered) -> Json:
    """Why the answer ended."""
    stopped = told.stopped
    refusal = "".join(block.text for block in told.blocks if block.kind == "refusal")
    if stopped is None:
        return {"stop_reason": None, "stop_sequence": None}
    if stopped.reason == "length":
        return {"stop_reason": "max_tokens", "stop_sequence": None}
    if refusal:
        details = {"type": "refusal", "category": None, "explanation": refusal}
        return {"stop_reason": "refusal", "stop_sequence": None, "stop_details": details}
    if stopped.sequence is not None:
        return {"stop_reason": "stop_sequence", "stop_sequence": stopped.sequence}
    reason = "tool_use" if stopped.reason == "tool_calls" else "end_turn"
    return {"stop_reason": reason, "stop_sequence": None}


def _events(ask: Ask, script: Script, identity: Identity) -> Iterator[Step]:
    if script.silent:
        return
    told = gather(script.beats)
    usage = usage_object(script.usage)
    opening = {**_message(ask, identity), "usage": {**usage, "output_tokens": 1}}
    del opening["usage"]["output_tokens_details"]
    yield _event(0.0, "message_start", {"message": opening})
    for index, block in enumerate(_shown(told)):
        yield from _block(block, index, ask)
        if index == 0:
            yield _event(block.ends_at, "ping", {})
    if script.failure is not None:
        yield _event(script.ends_at, "error", _error(script.failure))
    elif script.ending is Ending.WHOLE:
        yield _event(script.ends_at, "message_delta", {"delta": _ended(told), "usage": usage})
        yield _event(script.ends_at, "message_stop", {})


def _block(block: Block, index: int, ask: Ask) -> Iterator[Step]:
    """One content block from its start to its stop; a broken-off one has no stop."""

    def delta(at: float, kind: str, name: str, value: str) -> Step:
        fields = {"index": index, "delta": {"type": kind, name: value}}
        return _event(at, "content_block_delta", fields)

    start: Json = {"type": "text", "text": ""}
    kind, name = "text_delta", "text"
    if block.kind == "thinking":
        start = {"type": "thinking", "thinking": "", "signature": ""}
        kind, name = "thinking_delta", "thinking"
    elif block.kind == "call":
        start = _call(block)
        kind, name = "input_json_delta", "partial_json"
    yield _event(block.at, "content_block_start", {"index": index, "content_block": start})
    if block.kind == "call":
        yield delta(block.at, kind, name, "")
    for at, piece in block.pieces:
        if block.kind != "thinking" or ask.shows_thinking:
            yield delta(at, kind, name, piece)
    if not block.done:
        return
    if block.kind == "thinking":
        signature = _content(block, ask)["signature"]
        yield delta(block.ends_at, "signature_delta", "signature", signature)
    yield _event(block.ends_at, "content_block_stop", {"index": index})


def _event(at: float, name: str, fields: Json) -> Step:
    return Step(at, f"event: {name}\ndata: ".encode() + _encode({"type": name} | fields) + b"\n\n")


def _error(problem: Problem) -> Json:
    status = problem.status
    other = "api_error" if status >= 500 else "invalid_request_error"
    message = f"{problem.param}: {problem.message}" if problem.param else problem.message
    code = unusual_code(problem)
    if code == OVERFLOW:
        message = "prompt is too long: 200001 tokens > 200000 maximum"
    error: Json = {"type": _TYPES.get(status, other), "message": message}
    # Problems with a field have codes of OpenAI's; there are none here.
    if code and not problem.param and code != OVERFLOW:
        error["details"] = {"error_code": code}
    return {"type": "error", "error": error}


# Requests.


def _ask(asked: _Body, limit: int, *, counts: bool = False) -> Ask:
    if asked.model is None:
        raise Refused(missing("model", "Field required"))
    if not asked.messages:
        raise Refused(invalid_value("messages", "at least one message is required"))
    request = Request(
        turns=(*text_blocks(asked.system), *read_turns(asked.messages)),
        max_output=limit,
        stop=() if counts else tuple(asked.stop_sequences or ()),
        tools=tuple(_tools(asked.tools or ())),
        tool_choice=_tool_choice(asked),
        parallel_tool_calls=_parallel(asked.tool_choice),
        answer_format=_answer_format(asked.output_config),
        effort=_effort(asked, limit, counts=counts),
    )
    return Ask(
        model=asked.model,
        request=request,
        stream=bool(asked.stream) and not counts,
        shows_thinking=mapping(asked.thinking).get("display") != "omitted",
    )


def _tools(tools: Iterable[Mapping[str, Any]]) -> Iterator[Tool]:
    """The client's tools; those that the server runs are left alone."""
    for place, tool in enumerate(tools):
        if tool.get("type", "custom") != "custom":
            continue
        name, schema = string(tool, "name"), tool.get("input_schema")
        if name is None:
            raise Refused(missing(f"tools.{place}.name", "Field required"))
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            path = f"tools.{place}.custom.input_schema.type"
            raise Refused(invalid_value(path, "Input should be 'object'"))
        yield Tool(name, string(tool, "description"), schema, tool.get("strict"))


def _tool_choice(asked: _Body) -> ToolChoice | None:
    choice = asked.tool_choice
    if choice is None:
        return None
    if not asked.tools:
        told = "tool_choice may only be specified while providing tools"
        raise Refused(invalid_value("tool_choice", told))
    match choice:
        case {"type": "auto"}:
            return ToolChoice("auto")
        case {"type": "any"}:
            return ToolChoice("required")
        case {"type": "none"}:
            return ToolChoice("none")
        case {"type": "tool", "name": str(name)}:
            return ToolChoice("named", name)
        case _:
            raise Refused(invalid_value("tool_choice", "type must be auto, any, tool or none"))


def _parallel(choice: Mapping[str, Any] | None) -> bool | None:
    return False if mapping(choice).get("disable_parallel_tool_use") is True else None


def _answer_format(config: Mapping[str, Any] | None) -> AnswerFormat | None:
    match mapping(config).get("format"):
        case None:
            return None
        case {"type": "json_schema", "schema": dict(schema)}:
            return AnswerFormat("json_schema", schema=schema)
        case _:
            raise Refused(
                invalid_value("output_config.format", "must be a json_schema with a schema")
            )


def _effort(asked: _Body, limit: int, *, counts: bool) -> str | None:
    """The level; None where nothing is said, which leaves the model its own."""
    level = mapping(asked.output_config).get("effort")
    if level is not None and level not in _LEVELS:
        raise Refused(invalid_value("output_config.effort", f"must be one of {', '.join(_LEVELS)}"))
    match asked.thinking:
        case None | {"type": "adaptive"} | {"type": "between_tools"}:
            return level
        case {"type": "disabled"}:
            return "none"
        case {"type": "enabled", "budget_tokens": int(budget)}:
            path = "thinking.enabled.budget_tokens"
            if budget < _LEAST_BUDGET:
                told = f"Input should be greater than or equal to {_LEAST_BUDGET}"
                raise Refused(invalid_value(path, told))
            if budget >= limit and not counts:
                raise Refused(invalid_value("max_tokens", f"must be greater than `{path}`"))
            return level or level_of_budget(budget)
        case _:
            raise Refused(invalid_value("thinking", "type must be adaptive, enabled or disabled"))
