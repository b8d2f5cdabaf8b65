"""A checked Responses request in neutral form, for exchanges with other formats.

Items that follow one another on one side make one turn. Items of types unknown here are left out
and reported. A custom tool becomes a function with one string, a tool in a namespace a function
with both names in one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    Part,
    RefusalText,
    Text,
    ToolCall,
    ToolResult,
)
from zurelay.chat.request import AnswerFormat, Request, Role, Tool, ToolChoice, Turn
from zurelay.formats.base import Inbound
from zurelay.formats.cache_marks import lifetime
from zurelay.formats.openai_chat.request import split_data_url
from zurelay.formats.openai_chat.view import given
from zurelay.formats.openai_responses import envelope, toolbox
from zurelay.formats.schema import CUSTOM_INPUT
from zurelay.wire import json

Json = dict[str, Any]

KEPT_HERE = frozenset({"models", "metadata", "user", "safety_identifier"})
"""Fields that the gateway itself uses; never sent upstream, never reported as dropped."""

_KNOWN = KEPT_HERE | {
    "model",
    "input",
    "instructions",
    "stream",
    "stream_options",
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_logprobs",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "reasoning",
    "prompt_cache_key",
    "service_tier",
    "background",
}
_AS_IT_IS: Json = {
    "store": False,
    "truncation": "disabled",
    "include": ["reasoning.encrypted_content"],
}
"""Values that ask for what happens anyway; others are reported as dropped."""


def read(inbound: Inbound) -> Request:
    """The request; fields that only this format knows become `extra`."""
    body: Json = {name: json.decode(raw) for name, raw in inbound.body.items() if given(raw)}
    unread: list[str] = []
    items = body["input"]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    offered = toolbox.offered(body.get("tools") or (), items)
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        names = {tool["name"] for tool in choice["tools"]}
        offered = {
            name: tool
            for name, tool in offered.items()
            if tool.name in names or tool.namespace in names
        }
        choice = choice.get("mode") or "auto"
    wanted = body.get("text") or {}
    return Request(
        turns=(*_instructions(body.get("instructions")), *_turns(items, unread)),
        max_output=inbound.max_output,
        temperature=body.get("temperature"),
        top_p=body.get("top_p"),
        tools=tuple(_tool(name, tool) for name, tool in offered.items()),
        tool_choice=_choice(choice, offered),
        parallel_tool_calls=body.get("parallel_tool_calls"),
        answer_format=_format(wanted.get("format")),
        effort=inbound.effort,
        top_logprobs=body.get("top_logprobs"),
        verbosity=wanted.get("verbosity"),
        prompt_cache_key=inbound.cache_key,
        service_tier=body.get("service_tier"),
        extra=_extra(body, unread),
    )


def _extra(body: Json, unread: list[str]) -> Json:
    known = {
        name: value
        for name, value in body.items()
        if name not in _KNOWN and _AS_IT_IS.get(name) != value and value not in ([], {})
    }
    return known | dict.fromkeys(unread, True)


def _instructions(text: str | None) -> Iterable[Turn]:
    if text:
        yield Turn("system", (Text(text),))


def _turns(items: Iterable[Json], unread: list[str]) -> Iterable[Turn]:
    role: Role = "assistant"
    parts: list[Part] = []
    for item in items:
        kind = item.get("type")
        if kind is None or kind == "message":
            its, new = item["role"], _message(item["role"], item["content"])
            joins = its == role == "assistant"
        elif kind in ("function_call_output", "custom_tool_call_output"):
            its, new = "user", [_result(item)]
            joins = role == "user" and all(isinstance(part, ToolResult) for part in parts)
        elif kind in ("reasoning", "function_call", "custom_tool_call"):
            its, new = "assistant", list(_of_assistant(kind, item))
            joins = role == "assistant"
        else:
            if kind != toolbox.ADDITIONAL:
                unread.append("input[]")
            continue
        if parts and not joins:
            yield Turn(role, tuple(parts))
            parts = []
        role = its
        parts += new
    if parts:
        yield Turn(role, tuple(parts))


def _message(role: str, content: str | list[Json]) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content or role != "assistant" else []
    return [_part(part) for part in content]


def _part(part: Json) -> Part:
    kind = part["type"]
    if kind == "refusal":
        return RefusalText(part["refusal"])
    if kind == "input_audio":
        return Audio(part["input_audio"]["data"], part["input_audio"]["format"])
    return _content(part)


def _content(part: Json) -> Text | Image | File:
    kind, cache = part["type"], lifetime(part)
    if kind == "input_image":
        url, detail = part["image_url"], part.get("detail")
        media_type, data = split_data_url(url)
        if data is None:
            return Image(url=url, detail=detail, cache=cache)
        return Image(data=data, media_type=media_type, detail=detail, cache=cache)
    if kind == "input_file":
        name = part.get("filename")
        if part.get("file_url") is not None:
            return File(url=part["file_url"], filename=name, cache=cache)
        media_type, data = split_data_url(part["file_data"])
        return File(data=data, media_type=media_type, filename=name, cache=cache)
    return Text(part["text"], cache)


def _result(item: Json) -> ToolResult:
    output = item["output"]
    if isinstance(output, str):
        return ToolResult(item["call_id"], (Text(output),))
    return ToolResult(item["call_id"], tuple(_content(part) for part in output))


def _of_assistant(kind: str, item: Json) -> Iterable[Part]:
    if kind == "reasoning":
        shared = item.get("summary") or item.get("content") or []
        text = "\n\n".join(part.get("text") or "" for part in shared)
        yield from envelope.unseal(text, item.get("encrypted_content") or "")
    else:
        name = toolbox.one_name(item.get("namespace"), item["name"])
        if kind == "custom_tool_call":
            arguments = json.encode({"input": item["input"]}).decode()
            yield ToolCall(item["call_id"], name, arguments)
        else:
            yield ToolCall(item["call_id"], name, item["arguments"])


def _tool(name: str, offered: toolbox.Offered) -> Tool:
    if offered.custom:
        return Tool(name, offered.description, CUSTOM_INPUT)
    tool = offered.tool
    return Tool(
        name, offered.description, tool.get("parameters"), tool.get("strict"), lifetime(tool)
    )


def _choice(choice: object, offered: Mapping[str, toolbox.Offered]) -> ToolChoice | None:
    if isinstance(choice, dict):
        own = choice["name"]
        return ToolChoice("named", next(n for n, tool in offered.items() if tool.name == own))
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
    return AnswerFormat(
        "json_schema",
        wanted["name"],
        wanted["schema"],
        wanted.get("description"),
        wanted.get("strict"),
    )
