"""The sandbox's Responses dialect: reads a request body, writes responses, events and errors.

Written on its own, not on `formats/openai_responses`: what a test sends through both must not be
able to go wrong in the same way twice. Keeps nothing between calls. Shapes and order of events:
protocol of OpenAI, 2026-11.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from zurelay.chat.problems import Problem, Refused, invalid_value, missing
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice
from zurelay.chat.usage import Usage
from zurelay.sandbox.base import Identity, Step
from zurelay.sandbox.blocks import Block, Gathered, gather
from zurelay.sandbox.draft import Ask
from zurelay.sandbox.openai_chat import error_object
from zurelay.sandbox.openai_items import read_input
from zurelay.sandbox.proofs import proof
from zurelay.sandbox.reading import decoded, mapping
from zurelay.sandbox.script import Ending, Script

Json = dict[str, Any]

_LEAST_OUTPUT = 16


class _Reasoning(msgspec.Struct):
    effort: str | None = None
    summary: str | None = None


class _Tool(msgspec.Struct):
    type: str
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class _Text(msgspec.Struct):
    format: dict[str, Any] | None = None
    verbosity: str | None = None


class _Body(msgspec.Struct):
    model: str | None = None
    input: str | list[dict[str, Any]] | None = None
    instructions: str | None = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    tools: list[_Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    reasoning: _Reasoning | None = None
    text: _Text | None = None
    temperature: float | None = None
    top_p: float | None = None
    store: bool | None = None
    metadata: dict[str, str] | None = None
    previous_response_id: str | None = None


_decoder = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


class Responses:
    """See `base.Dialect`."""

    paths: tuple[str, ...] = ("/responses",)
    request_id_header = "x-request-id"
    tells_retry_after = True

    def read(self, body: bytes, route: str = "") -> Ask:
        """Read a request body; the path does not matter.

        Raises:
            Refused: no JSON object, or a field of the wrong type or value; names the field.
        """
        del route
        asked = decoded(_decoder, body)
        limit = asked.max_output_tokens
        if limit is not None and limit < _LEAST_OUTPUT:
            told = f"Expected a value >= {_LEAST_OUTPUT}, but got {limit} instead."
            raise Refused(invalid_value("max_output_tokens", told))
        return _ask(asked, limit)

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """A `response` object: the fold of the same events a stream would bring."""
        told = gather(script.beats)
        return _encode(_over(ask, script, identity, told, _items(told, ask, identity)))

    def stream(self, ask: Ask, script: Script, identity: Identity) -> Iterable[Step]:
        """Numbered events in OpenAI's order, each with its name; no end mark."""
        if script.silent:
            return
        for number, (at, kind, fields) in enumerate(_events(ask, script, identity)):
            data = _encode({"type": kind, "sequence_number": number} | fields)
            yield Step(at, f"event: {kind}\ndata: ".encode() + data + b"\n\n")

    def problem(self, problem: Problem, identity: Identity) -> bytes:
        """An error body; `identity` does not show in it."""
        del identity
        return _encode({"error": error_object(problem)})


class CountInput(Responses):
    """Counts instead of answering."""

    paths: tuple[str, ...] = ("/responses/input_tokens",)

    def read(self, body: bytes, route: str = "") -> Ask:
        """As `Responses.read`; nothing streams."""
        del route
        ask = _ask(decoded(_decoder, body), 1)
        return Ask(ask.model, ask.request)

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """How many tokens the prompt has."""
        del ask, identity
        return _encode({"object": "response.input_tokens", "input_tokens": script.usage.prompt})


def usage_object(usage: Usage) -> Json:
    """Token counts in this format's form: the input includes cache reads and writes."""
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cached_input,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": usage.total,
    }


# Answers.


def _response(ask: Ask, identity: Identity, status: str, output: list[Json]) -> Json:
    """The response object, which repeats what was asked for."""
    return {
        "id": f"resp_{identity.seed}",
        "object": "response",
        "created_at": identity.created,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": ask.model,
        "output": output,
        "previous_response_id": None,
        "truncation": "disabled",
        "service_tier": "default",
        "usage": None,
        **ask.request.extra,
    }


def _over(ask: Ask, script: Script, identity: Identity, told: Gathered, items: list[Json]) -> Json:
    """The response once it is whole."""
    limited = told.stopped is not None and told.stopped.reason == "length"
    response = _response(ask, identity, "incomplete" if limited else "completed", items)
    response["usage"] = usage_object(script.usage)
    if limited:
        response["incomplete_details"] = {"reason": "max_output_tokens"}
    else:
        response["completed_at"] = identity.created + int(script.ends_at)
    return response


def _items(told: Gathered, ask: Ask, identity: Identity) -> list[Json]:
    """The whole items; the last one of an answer at its limit is incomplete."""
    limited = told.stopped is not None and told.stopped.reason == "length"
    last = len(told.blocks) - 1
    return [
        _item(block, index, ask, identity, "incomplete" if limited and index == last else "")
        for index, block in enumerate(told.blocks)
    ]


def _item(block: Block, index: int, ask: Ask, identity: Identity, status: str = "") -> Json:
    status = status or "completed"
    if block.kind == "thinking":
        summary = [{"type": "summary_text", "text": block.text}] if ask.shows_thinking else []
        return {
            "id": _item_id(block, index, identity),
            "type": "reasoning",
            "summary": summary,
            "encrypted_content": proof(block.text),
        }
    if block.kind == "call":
        return _call(block, index, identity, status) | {"arguments": block.text}
    return _message(block, index, identity, status) | {"content": [_content(block, block.text)]}


def _item_id(block: Block, index: int, identity: Identity) -> str:
    prefix = {"thinking": "rs", "call": "fc"}.get(block.kind, "msg")
    return f"{prefix}_{identity.seed}{index:02}"


def _message(block: Block, index: int, identity: Identity, status: str) -> Json:
    return {
        "id": _item_id(block, index, identity),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [],
    }


def _call(block: Block, index: int, identity: Identity, status: str) -> Json:
    return {
        "id": _item_id(block, index, identity),
        "type": "function_call",
        "status": status,
        "call_id": block.call_id,
        "name": block.name,
        "arguments": "",
    }


def _content(block: Block, text: str) -> Json:
    if block.kind == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


_Told = tuple[float, str, Json]


def _events(ask: Ask, script: Script, identity: Identity) -> Iterator[_Told]:
    """Time, type and fields of each event."""
    told = gather(script.beats)
    opening = _response(ask, identity, "in_progress", [])
    yield 0.0, "response.created", {"response": opening}
    yield 0.0, "response.in_progress", {"response": opening}
    items = _items(told, ask, identity)
    for index, (block, item) in enumerate(zip(told.blocks, items, strict=True)):
        place: Json = {"output_index": index}
        started = _started(block, index, identity)
        yield block.at, "response.output_item.added", place | {"item": started}
        if block.kind == "thinking":
            yield from _summary(block, place, item) if ask.shows_thinking else ()
        elif block.kind == "call":
            yield from _arguments(block, place, item)
        else:
            yield from _text(block, place, item)
        if block.done:
            yield block.ends_at, "response.output_item.done", place | {"item": item}
    if script.failure is not None:
        yield from _failed(ask, script, identity, script.failure)
    elif script.ending is Ending.WHOLE:
        whole = _over(ask, script, identity, told, items)
        yield script.ends_at, f"response.{whole['status']}", {"response": whole}


def _started(block: Block, index: int, identity: Identity) -> Json:
    if block.kind == "thinking":
        item_id = _item_id(block, index, identity)
        return {"id": item_id, "type": "reasoning", "summary": [], "encrypted_content": ""}
    if block.kind == "call":
        return _call(block, index, identity, "in_progress")
    return _message(block, index, identity, "in_progress")


def _summary(block: Block, place: Json, item: Json) -> Iterator[_Told]:
    where = {"item_id": item["id"], **place, "summary_index": 0}
    kind = "response.reasoning_summary"
    empty = {"type": "summary_text", "text": ""}
    yield block.at, f"{kind}_part.added", where | {"part": empty}
    for at, piece in block.pieces:
        yield at, f"{kind}_text.delta", where | {"delta": piece}
    if block.done:
        yield block.ends_at, f"{kind}_text.done", where | {"text": block.text}
        yield block.ends_at, f"{kind}_part.done", where | {"part": item["summary"][0]}


def _arguments(block: Block, place: Json, item: Json) -> Iterator[_Told]:
    where = {"item_id": item["id"], **place}
    kind = "response.function_call_arguments"
    for at, piece in block.pieces:
        yield at, f"{kind}.delta", where | {"delta": piece}
    if block.done:
        whole = {"name": block.name, "arguments": block.text}
        yield block.ends_at, f"{kind}.done", where | whole


def _text(block: Block, place: Json, item: Json) -> Iterator[_Told]:
    where = {"item_id": item["id"], **place, "content_index": 0}
    refuses = block.kind == "refusal"
    kind = "response.refusal" if refuses else "response.output_text"
    more: Json = {} if refuses else {"logprobs": []}
    part = "response.content_part"
    yield block.at, f"{part}.added", where | {"part": _content(block, "")}
    for at, piece in block.pieces:
        yield at, f"{kind}.delta", where | {"delta": piece} | more
    if block.done:
        whole = {"refusal" if refuses else "text": block.text}
        yield block.ends_at, f"{kind}.done", where | whole | more
        yield block.ends_at, f"{part}.done", where | {"part": item["content"][0]}


def _failed(ask: Ask, script: Script, identity: Identity, problem: Problem) -> Iterator[_Told]:
    code = problem.code or "server_error"
    said = {"code": code, "message": problem.message}
    yield script.ends_at, "error", said | {"param": problem.param}
    response = _response(ask, identity, "failed", []) | {"error": said}
    yield script.ends_at, "response.failed", {"response": response}


# Requests.


def _ask(asked: _Body, limit: int | None) -> Ask:
    if asked.model is None:
        raise Refused(missing("model"))
    if asked.input is None or asked.input == []:
        raise Refused(missing("input"))
    if asked.previous_response_id is not None:
        told = f"Previous response with id '{asked.previous_response_id[:100]}' not found."
        code = "previous_response_not_found"
        raise Refused(Problem(400, "invalid_request_error", code, told, "previous_response_id"))
    reasoning = asked.reasoning or _Reasoning()
    request = Request(
        turns=read_input(asked.instructions, asked.input),
        max_output=limit,
        tools=tuple(_tools(asked)),
        tool_choice=_tool_choice(asked.tool_choice),
        parallel_tool_calls=asked.parallel_tool_calls,
        answer_format=_answer_format(asked.text),
        effort=reasoning.effort,
        extra=_repeated(asked, reasoning),
    )
    return Ask(
        model=asked.model,
        request=request,
        stream=bool(asked.stream),
        shows_thinking=reasoning.summary is not None,
    )


def _repeated(asked: _Body, reasoning: _Reasoning) -> Json:
    """The fields of the request that stand in the response too."""
    parallel = asked.parallel_tool_calls
    text = asked.text or _Text()
    return {
        "instructions": asked.instructions,
        "max_output_tokens": asked.max_output_tokens,
        "metadata": asked.metadata or {},
        "parallel_tool_calls": True if parallel is None else parallel,
        "reasoning": {"effort": reasoning.effort, "summary": reasoning.summary},
        "store": True if asked.store is None else asked.store,
        "temperature": 1.0 if asked.temperature is None else asked.temperature,
        "text": {
            "format": text.format or {"type": "text"},
            "verbosity": text.verbosity or "medium",
        },
        "tool_choice": asked.tool_choice or "auto",
        "tools": asked.tools or [],
        "top_p": 1.0 if asked.top_p is None else asked.top_p,
    }


def _tools(asked: _Body) -> Iterator[Tool]:
    """The function tools; of `allowed_tools` only those."""
    choice = mapping(asked.tool_choice)
    allowed = choice.get("tools") if choice.get("type") == "allowed_tools" else None
    names = {mapping(one).get("name") for one in allowed} if isinstance(allowed, list) else None
    for place, tool in enumerate(asked.tools or ()):
        if tool.type != "function":
            continue  # what the server runs
        if tool.name is None:
            raise Refused(missing(f"tools[{place}].name"))
        if names is None or tool.name in names:
            yield Tool(tool.name, tool.description, tool.parameters, tool.strict)


def _tool_choice(choice: str | Mapping[str, Any] | None) -> ToolChoice | None:
    match choice:
        case None:
            return None
        case "none" | "auto" | "required":
            return ToolChoice(choice)
        case {"type": "function", "name": str(name)}:
            return ToolChoice("named", name)
        case {"type": "allowed_tools", "mode": "required"}:
            return ToolChoice("required")
        case {"type": "allowed_tools"}:
            return ToolChoice("auto")
        case _:
            told = "tool_choice must be none, auto, required or a tool."
            raise Refused(invalid_value("tool_choice", told))


def _answer_format(text: _Text | None) -> AnswerFormat | None:
    match text.format if text is not None else None:
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return AnswerFormat("json_object")
        case {"type": "json_schema", "name": str(name), "schema": dict(schema)}:
            return AnswerFormat("json_schema", name, schema)
        case _:
            told = "text.format must be text, json_object, or json_schema with name and schema."
            raise Refused(invalid_value("text.format", told))
