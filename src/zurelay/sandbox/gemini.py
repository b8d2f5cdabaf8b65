"""The sandbox's generateContent dialect: reads a request, writes answers, pieces and errors.

Written on its own, not on `formats/gemini`: what a test sends through both must not be able to go
wrong in the same way twice. Streams are always event streams. Shapes: protocol of Google, 2026-11.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from zurelay.chat.problems import Problem, Refused, invalid_value
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice
from zurelay.chat.usage import Usage
from zurelay.sandbox.base import Identity, Step
from zurelay.sandbox.blocks import Block, Gathered, gather
from zurelay.sandbox.draft import Ask
from zurelay.sandbox.errors import OVERFLOW, unusual_code
from zurelay.sandbox.gemini_contents import read_instruction, read_turns
from zurelay.sandbox.proofs import proof
from zurelay.sandbox.reading import decoded, level_of_budget, mapping, string
from zurelay.sandbox.script import Ending, Script

Json = dict[str, Any]

_LEVELS = ("minimal", "low", "medium", "high", "xhigh")
_MOST_STOPS = 5
_MOST_CANDIDATES = 8
_STREAM = ":streamGenerateContent"

_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_TOO_LONG = (
    "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
)
_DETAIL = "type.googleapis.com/google.rpc."


class _Thinking(msgspec.Struct, rename="camel"):
    include_thoughts: bool = False
    thinking_level: str | None = None
    thinking_budget: int | None = None


class _Config(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The fields that a generationConfig has; others are refused, as they are there."""

    max_output_tokens: int | None = None
    stop_sequences: list[str] | None = None
    candidate_count: int | None = None
    response_mime_type: str | None = None
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None
    thinking_config: _Thinking | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_logprobs: bool | None = None
    logprobs: int | None = None
    response_modalities: Any = None
    media_resolution: Any = None
    speech_config: Any = None
    image_config: Any = None


class _Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    contents: list[dict[str, Any]] = []
    system_instruction: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_config: dict[str, Any] | None = None
    generation_config: _Config | None = None
    model: str | None = None
    safety_settings: Any = None
    cached_content: Any = None
    labels: Any = None
    service_tier: Any = None


class _Count(msgspec.Struct, rename="camel"):
    """Either a whole request inside, or what is counted itself."""

    generate_content_request: _Body | None = None
    contents: list[dict[str, Any]] = []
    system_instruction: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None


_decoder = msgspec.json.Decoder(_Body)
_count_decoder = msgspec.json.Decoder(_Count)
_encode = msgspec.json.Encoder().encode


class GenerateContent:
    """See `base.Dialect`."""

    paths: tuple[str, ...] = (":generateContent", _STREAM)
    request_id_header = ""
    tells_retry_after = False

    def read(self, body: bytes, route: str) -> Ask:
        """Read a request body; the model and whether it streams stand in the path.

        Raises:
            Refused: no JSON object, or a field of the wrong type or value; names the field.
        """
        return _ask(decoded(_decoder, body), route)

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """A whole answer: the fold of the same pieces a stream would bring."""
        candidates = []
        for index in range(ask.request.n):
            told = gather(script.beats, index)
            parts = [
                part for block in told.blocks for _, part in _parts(block, told, ask, whole=True)
            ]
            candidates.append(_candidate(parts, index, told))
        return _encode(_answer(ask, identity, candidates, usage_object(script.usage)))

    def stream(self, ask: Ask, script: Script, identity: Identity) -> Iterable[Step]:
        """Whole answers that hold only what is new; no end mark."""
        return _pieces(ask, script, identity)

    def problem(self, problem: Problem, identity: Identity) -> bytes:
        """An error body; `identity` does not show in it."""
        del identity
        return _encode({"error": _error(problem)})


class CountContents(GenerateContent):
    """Counts instead of answering."""

    paths: tuple[str, ...] = (":countTokens",)

    def read(self, body: bytes, route: str) -> Ask:
        """As `GenerateContent.read`; the request may stand in `generateContentRequest`."""
        asked = decoded(_count_decoder, body)
        inner = asked.generate_content_request or _Body(
            contents=asked.contents,
            system_instruction=asked.system_instruction,
            tools=asked.tools,
        )
        config = inner.generation_config or _Config()
        config.max_output_tokens, config.stop_sequences, config.candidate_count = 1, None, None
        inner.generation_config = config
        return _ask(inner, route)

    def whole(self, ask: Ask, script: Script, identity: Identity) -> bytes:
        """How many tokens the prompt has."""
        del ask, identity
        return _encode({"totalTokens": script.usage.prompt})


def usage_object(usage: Usage) -> Json:
    """Token counts in Google's form: candidates without thoughts, the prompt with cache reads."""
    thoughts = usage.reasoning or 0
    return {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.completion - thoughts,
        **({"thoughtsTokenCount": thoughts} if thoughts else {}),
        **({"cachedContentTokenCount": usage.cached_input} if usage.cached_input else {}),
        "totalTokenCount": usage.total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.prompt}],
    }


# Answers.


def _answer(ask: Ask, identity: Identity, candidates: list[Json], usage: Json) -> Json:
    return {
        "candidates": candidates,
        "usageMetadata": usage,
        "modelVersion": ask.model,
        "responseId": identity.seed,
    }


def _candidate(parts: list[Json], index: int, ended: Gathered | None = None) -> Json:
    """One candidate; `ended` where it is over."""
    candidate: Json = {"index": index}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    if ended is None or ended.stopped is None:
        return candidate
    refusal = "".join(block.text for block in ended.blocks if block.kind == "refusal")
    if refusal and ended.stopped.reason != "length":
        return candidate | {"finishReason": "SAFETY", "finishMessage": refusal}
    limited = ended.stopped.reason == "length"
    return candidate | {"finishReason": "MAX_TOKENS" if limited else "STOP"}


def _parts(block: Block, told: Gathered, ask: Ask, *, whole: bool) -> Iterator[tuple[float, Json]]:
    """A block's parts and when they come: calls whole, text in pieces unless `whole`."""
    if block.kind == "refusal" or (block.kind == "thinking" and not ask.shows_thinking):
        return
    if block.kind == "call":
        part = _call(block, told)
        if part is not None:
            yield block.ends_at, part
        return
    flag = {"thought": True} if block.kind == "thinking" else {}
    signed = _signature(block, told)
    if whole:
        yield block.at, {"text": block.text} | flag | signed
        return
    for at, piece in block.pieces:
        yield at, {"text": piece} | flag
    if signed:
        # The real one signs the end of a stream on a text that is empty.
        yield block.ends_at, {"text": ""} | signed


def _call(block: Block, told: Gathered) -> Json | None:
    """A call with its signature, which only the first one has; None where the limit cut it."""
    try:
        given = msgspec.json.decode(block.text)
    except msgspec.DecodeError:
        return None
    first = next(one for one in told.blocks if one.kind == "call")
    signed = {"thoughtSignature": proof(block.name)} if block is first else {}
    return {"functionCall": {"id": block.call_id, "name": block.name, "args": given}} | signed


def _signature(block: Block, told: Gathered) -> Json:
    """The signature of an answer that was thought about stands on its text."""
    thought = any(one.kind == "thinking" for one in told.blocks)
    if block.kind == "text" and thought and told.stopped is not None:
        return {"thoughtSignature": proof("text")}
    return {}


def _pieces(ask: Ask, script: Script, identity: Identity) -> Iterator[Step]:
    if script.silent:
        return
    prompt = script.usage.prompt
    so_far: Json = {"promptTokenCount": prompt, "totalTokenCount": prompt}
    final = usage_object(script.usage)
    timed: list[tuple[float, list[Json], Json]] = []
    for index in range(ask.request.n):
        told = gather(script.beats, index)
        for block in told.blocks:
            for at, part in _parts(block, told, ask, whole=False):
                timed.append((at, [_candidate([part], index)], so_far))
        if told.stopped is not None:
            last = [] if told.blocks and told.blocks[-1].kind != "text" else [{"text": ""}]
            timed.append((script.ends_at, [_candidate(last, index, told)], final))
    for at, candidates, usage in sorted(timed, key=lambda piece: piece[0]):
        yield _data(at, _answer(ask, identity, candidates, usage))
    if script.failure is not None and script.ending is Ending.ERROR:
        yield _data(script.ends_at, {"error": _error(script.failure)})


def _data(at: float, value: Json) -> Step:
    return Step(at, b"data: " + _encode(value) + b"\r\n\r\n")


def _error(problem: Problem) -> Json:
    other = "INVALID_ARGUMENT" if problem.status < 500 else "INTERNAL"
    code = unusual_code(problem)
    message = problem.message
    details: list[Json] = []
    if code == OVERFLOW:
        message = _TOO_LONG
    elif code and problem.param is None:
        reason = {"reason": code.upper(), "domain": "googleapis.com"}
        details.append({"@type": f"{_DETAIL}ErrorInfo", **reason})
    if problem.param is not None:
        violation = {"field": problem.param, "description": message}
        details.append({"@type": f"{_DETAIL}BadRequest", "fieldViolations": [violation]})
    if problem.retry_after is not None:
        wait = f"{problem.retry_after}s"
        details.append({"@type": f"{_DETAIL}RetryInfo", "retryDelay": wait})
    error: Json = {
        "code": problem.status,
        "message": message,
        "status": _STATUSES.get(problem.status, other),
    }
    return error | ({"details": details} if details else {})


# Requests.


def _ask(asked: _Body, route: str) -> Ask:
    if not asked.contents:
        raise Refused(invalid_value("contents", "contents is not specified"))
    config = asked.generation_config or _Config()
    candidates = 1 if config.candidate_count is None else config.candidate_count
    if not 1 <= candidates <= _MOST_CANDIDATES:
        path = "generation_config.candidate_count"
        raise Refused(invalid_value(path, f"must be from 1 to {_MOST_CANDIDATES}"))
    if len(config.stop_sequences or ()) > _MOST_STOPS:
        path = "generation_config.stop_sequences"
        raise Refused(invalid_value(path, f"at most {_MOST_STOPS} stop sequences are supported"))
    if config.max_output_tokens is not None and config.max_output_tokens < 1:
        raise Refused(invalid_value("generation_config.max_output_tokens", "must be positive"))
    thinking = config.thinking_config or _Thinking()
    request = Request(
        turns=(*read_instruction(asked.system_instruction), *read_turns(asked.contents)),
        max_output=config.max_output_tokens,
        stop=tuple(config.stop_sequences or ()),
        tools=tuple(_tools(asked)),
        tool_choice=_tool_choice(asked.tool_config),
        answer_format=_answer_format(config),
        effort=_effort(thinking),
        n=candidates,
    )
    return Ask(
        model=unquote(route.rpartition("/models/")[2].rpartition(":")[0]),
        request=request,
        stream=route.endswith(_STREAM),
        shows_thinking=thinking.include_thoughts,
    )


def _tools(asked: _Body) -> Iterator[Tool]:
    """The declared functions; where a choice allows only some, those."""
    calling = mapping(mapping(asked.tool_config).get("functionCallingConfig"))
    allowed = calling.get("allowedFunctionNames")
    for place, tool in enumerate(asked.tools or ()):
        for at, declared in enumerate(tool.get("functionDeclarations") or ()):
            name = string(mapping(declared), "name")
            path = f"tools[{place}].function_declarations[{at}]"
            if name is None or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", name):
                raise Refused(invalid_value(f"{path}.name", "Invalid function name."))
            if "parameters" in declared and "parametersJsonSchema" in declared:
                told = "parameters and parameters_json_schema may not both be set"
                raise Refused(invalid_value(path, told))
            schema = declared.get("parametersJsonSchema")
            if schema is None:
                schema = _json_schema(declared.get("parameters"))
            if not allowed or name in allowed:
                yield Tool(name, string(declared, "description"), schema)


def _tool_choice(config: Mapping[str, Any] | None) -> ToolChoice | None:
    calling = mapping(mapping(config).get("functionCallingConfig"))
    match calling.get("mode"):
        case None:
            return None
        case "AUTO" | "VALIDATED":
            return ToolChoice("auto")
        case "NONE":
            return ToolChoice("none")
        case "ANY":
            names = calling.get("allowedFunctionNames")
            if isinstance(names, list) and len(names) == 1:
                return ToolChoice("named", str(names[0]))
            return ToolChoice("required")
        case _:
            path = "tool_config.function_calling_config.mode"
            raise Refused(invalid_value(path, "mode must be AUTO, ANY, NONE or VALIDATED"))


def _answer_format(config: _Config) -> AnswerFormat | None:
    schema = config.response_json_schema
    if schema is None:
        schema = _json_schema(config.response_schema)
    elif config.response_schema is not None:
        told = "response_schema and response_json_schema may not both be set"
        raise Refused(invalid_value("generation_config.response_schema", told))
    if config.response_mime_type != "application/json":
        if schema is not None:
            told = "a response schema needs the response MIME type application/json"
            raise Refused(invalid_value("generation_config.response_mime_type", told))
        return None
    return AnswerFormat("json_object" if schema is None else "json_schema", schema=schema)


def _json_schema(schema: Any) -> Any:
    """A schema in Google's dialect, whose types may be in capitals, as JSON Schema."""
    if isinstance(schema, list):
        return [_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value.lower() if name == "type" and isinstance(value, str) else _json_schema(value)
        for name, value in schema.items()
    }


def _effort(thinking: _Thinking) -> str | None:
    level, budget = thinking.thinking_level, thinking.thinking_budget
    if level is not None and budget is not None:
        told = "thinking_level and thinking_budget may not both be set"
        raise Refused(invalid_value("generation_config.thinking_config", told))
    if budget is not None:
        return None if budget < 0 else level_of_budget(budget)
    if level is None or level == "THINKING_LEVEL_UNSPECIFIED":
        return None
    if level.lower() not in _LEVELS:
        path = "generation_config.thinking_config.thinking_level"
        raise Refused(invalid_value(path, f"must be one of {', '.join(_LEVELS).upper()}"))
    return level.lower()
