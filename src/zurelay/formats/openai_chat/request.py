"""Requests to and from the neutral form, for exchanges with other formats."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

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
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats.base import Inbound
from zurelay.formats.cache_marks import lifetime
from zurelay.formats.openai_chat.edit import KEPT_HERE
from zurelay.formats.openai_chat.history import reasoning_text
from zurelay.formats.openai_chat.view import given
from zurelay.formats.schema import CUSTOM_INPUT
from zurelay.wire import json

Json = dict[str, Any]

_KNOWN = KEPT_HERE | {
    "model",
    "messages",
    "stream",
    "stream_options",
    "store",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "temperature",
    "top_p",
    "stop",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "seed",
    "n",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "verbosity",
    "prompt_cache_key",
    "service_tier",
}


def read(inbound: Inbound) -> Request:
    """A checked request in neutral form; fields that only this format knows become `extra`."""
    body: Json = {name: json.decode(raw) for name, raw in inbound.body.items() if given(raw)}
    tools = tuple(_tool(tool) for tool in body.get("tools", ()))
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        allowed = choice["allowed_tools"]
        names = {_name(tool) for tool in allowed.get("tools", ())}
        tools = tuple(tool for tool in tools if tool.name in names)
        choice = allowed.get("mode", "auto")
    return Request(
        turns=tuple(_turns(body["messages"])),
        max_output=inbound.max_output,
        temperature=body.get("temperature"),
        top_p=body.get("top_p"),
        stop=inbound.stop,
        tools=tools,
        tool_choice=_choice(choice),
        parallel_tool_calls=body.get("parallel_tool_calls"),
        answer_format=_format(body.get("response_format")),
        effort=inbound.effort,
        seed=body.get("seed"),
        n=inbound.choices,
        presence_penalty=body.get("presence_penalty"),
        frequency_penalty=body.get("frequency_penalty"),
        logit_bias=body.get("logit_bias"),
        logprobs=body.get("logprobs"),
        top_logprobs=body.get("top_logprobs"),
        verbosity=body.get("verbosity"),
        prompt_cache_key=inbound.cache_key,
        service_tier=body.get("service_tier"),
        extra={name: value for name, value in body.items() if name not in _KNOWN},
    )


def _name(tool: Json) -> str:
    kind = tool.get("type", "function")
    inner = tool.get(kind) or {}
    return str(inner.get("name"))


def _tool(tool: Json) -> Tool:
    if tool["type"] == "custom":
        custom = tool["custom"]
        return Tool(custom["name"], custom.get("description"), CUSTOM_INPUT)
    function = tool["function"]
    return Tool(
        function["name"],
        function.get("description"),
        function.get("parameters"),
        function.get("strict"),
        lifetime(tool) or lifetime(function),
    )


def _choice(choice: object) -> ToolChoice | None:
    if isinstance(choice, dict):
        return ToolChoice("named", _name(choice))
    if choice == "none":
        return ToolChoice("none")
    if choice == "required":
        return ToolChoice("required")
    return ToolChoice("auto") if choice == "auto" else None


def _format(wanted: Json | None) -> AnswerFormat | None:
    if wanted is None or wanted["type"] == "text":
        return None
    if wanted["type"] == "json_object":
        return AnswerFormat("json_object")
    schema = wanted["json_schema"]
    return AnswerFormat(
        "json_schema",
        schema["name"],
        schema.get("schema"),
        schema.get("description"),
        schema.get("strict"),
    )


def _turns(messages: Iterable[Json]) -> Iterable[Turn]:
    results: list[Part] = []
    for message in messages:
        role = message["role"]
        if role == "tool":
            results.append(_result(message))
            continue
        if results:
            yield Turn("user", tuple(results))
            results = []
        parts = _assistant(message) if role == "assistant" else _parts(message.get("content"))
        yield Turn(role, tuple(_marked(list(parts), message)), message.get("name"))
    if results:
        yield Turn("user", tuple(results))


def _result(message: Json) -> ToolResult:
    parts = tuple(
        part for part in _parts(message["content"]) if isinstance(part, Text | Image | File)
    )
    return ToolResult(message["tool_call_id"], parts, cache=lifetime(message))


def _marked(parts: list[Part], message: Json) -> list[Part]:
    """A breakpoint on a whole message stands after the last part that can carry one."""
    lasting = lifetime(message)
    if lasting is None:
        return parts
    for place in reversed(range(len(parts))):
        part = parts[place]
        if isinstance(part, Text | Image | File):
            parts[place] = replace(part, cache=part.cache or lasting)
            break
    return parts


def _parts(content: str | list[Json] | None) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)]
    return [_part(part) for part in content or ()]


def _part(part: Json) -> Part:
    kind = part["type"]
    cache = lifetime(part)
    if kind == "text":
        return Text(part["text"], cache)
    if kind == "refusal":
        return RefusalText(part["refusal"])
    if kind == "image_url":
        url = part["image_url"]["url"]
        media_type, data = split_data_url(url)
        detail = part["image_url"].get("detail")
        if data is None:
            return Image(url=url, detail=detail, cache=cache)
        return Image(data=data, media_type=media_type, detail=detail, cache=cache)
    if kind == "video_url":
        return Video(part["video_url"]["url"])
    if kind == "input_audio":
        return Audio(part["input_audio"]["data"], part["input_audio"]["format"])
    file = part["file"]
    media_type, data = split_data_url(file["file_data"])
    if data is None:
        return File(url=file["file_data"], filename=file.get("filename"), cache=cache)
    return File(data=data, media_type=media_type, filename=file.get("filename"), cache=cache)


def split_data_url(url: str) -> tuple[str | None, str | None]:
    """Media type and base64 data of a data URL; (None, None) for any other."""
    if not url.startswith("data:"):
        return None, None
    head, _, data = url.removeprefix("data:").partition(",")
    return head.partition(";")[0] or "application/octet-stream", data


def _assistant(message: Json) -> Iterable[Part]:
    yield from thinking(message)
    content = message.get("content")
    yield from _parts(content if content != "" else None)
    if message.get("refusal"):
        yield RefusalText(message["refusal"])
    for call in message.get("tool_calls") or ():
        yield tool_call(call)


def thinking(message: Mapping[str, Any]) -> Iterable[Thinking]:
    """The thinking that an assistant message carries, signed where it came with a proof."""
    text = reasoning_text({**message, "reasoning_details": None})
    details = message.get("reasoning_details") or []
    signed = [
        item
        for item in details
        if isinstance(item, dict) and (item.get("signature") or item.get("data"))
    ]
    if not signed:
        text = text or reasoning_text(dict(message))
        return [Thinking(text)] if text else []
    repeated = "".join(item["text"] for item in signed if isinstance(item.get("text"), str))
    text = (text or "").removesuffix(repeated)
    out = []
    for item in signed:
        redacted = bool(item.get("data"))
        known = item.get("text")
        own = "" if redacted else known if isinstance(known, str) else text
        if not redacted and known is None:
            text = ""  # shown apart, it belongs to the first proof
        proof = str(item.get("data") or item.get("signature"))
        origin, bound = item.get("format"), item.get("id")
        out.append(
            Thinking(
                own,
                proof,
                origin if isinstance(origin, str) else None,
                redacted,
                bound if isinstance(bound, str) else None,
            )
        )
    return out


def tool_call(call: Json) -> ToolCall:
    """A call; a freeform one becomes a function with one string."""
    if call.get("type") == "custom":
        custom = call["custom"]
        arguments = json.encode({"input": custom["input"]}).decode()
        return ToolCall(call["id"], custom["name"], arguments)
    return ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
