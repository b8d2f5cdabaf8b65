"""A checked Messages request in neutral form, for exchanges with other formats.

What no other format can express is refused with its path, never lost: files stored at a provider,
tools that the provider runs. Blocks of such tools in history are told as text.
"""

from collections.abc import Iterable
from typing import Any

from zurelay.chat import problems
from zurelay.chat.parts import File, Image, Part, Text, Thinking, ToolCall, ToolResult
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice, Turn
from zurelay.formats.anthropic import envelope
from zurelay.formats.anthropic.checks import BILLING
from zurelay.formats.anthropic.turn_changes import CHANGES, in_force
from zurelay.formats.base import Inbound
from zurelay.formats.cache_marks import lifetime
from zurelay.formats.openai_chat.view import given
from zurelay.wire import json

Json = dict[str, Any]

KEPT_HERE = frozenset({"models", "metadata"})
"""Fields that the gateway itself uses; never sent upstream, never reported as dropped."""

_KNOWN = KEPT_HERE | {
    "model",
    "messages",
    "max_tokens",
    "system",
    "stream",
    "temperature",
    "top_p",
    "stop_sequences",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "service_tier",
}


def read(inbound: Inbound) -> Request:
    """The request; fields that only this format knows become `extra`."""
    body: Json = {name: json.decode(raw) for name, raw in inbound.body.items() if given(raw)}
    choice = body.get("tool_choice") or {}
    alone = choice.get("disable_parallel_tool_use")
    config = body.get("output_config") or {}
    tools = in_force(body.get("tools") or (), body["messages"])
    return Request(
        turns=(*_system(body.get("system")), *_turns(body["messages"])),
        max_output=inbound.max_output,
        temperature=body.get("temperature"),
        top_p=body.get("top_p"),
        stop=inbound.stop,
        tools=tuple(_tool(f"tools[{i}]", tool) for i, tool in enumerate(tools)),
        tool_choice=_choice(choice),
        parallel_tool_calls=None if alone is None else not alone,
        answer_format=_format(config.get("format")),
        effort=inbound.effort,
        service_tier=body.get("service_tier"),
        extra={name: value for name, value in body.items() if name not in _KNOWN},
    )


def _system(system: str | list[Json] | None) -> Iterable[Turn]:
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system or []
    parts = tuple(
        Text(block["text"], lifetime(block))
        for block in blocks
        if block.get("text") and not block["text"].startswith(BILLING)
    )
    if parts:
        yield Turn("system", parts)


def _turns(messages: Iterable[Json]) -> Iterable[Turn]:
    for place, message in enumerate(messages):
        content = message["content"]
        if isinstance(content, str):
            parts: Iterable[Part] = [Text(content)]
        else:
            path = f"messages[{place}].content"
            parts = [
                part for at, block in enumerate(content) for part in _part(f"{path}[{at}]", block)
            ]
            if not parts and any(block["type"] in CHANGES for block in content):
                continue
        yield Turn(message["role"], tuple(parts))


def _part(path: str, block: Json) -> Iterable[Part]:
    kind = block["type"]
    if kind == "tool_use":
        yield ToolCall(block["id"], block["name"], json.encode(block["input"]).decode())
    elif kind == "tool_result":
        parts = tuple(_result(path, block.get("content")))
        error = bool(block.get("is_error"))
        yield ToolResult(block["tool_use_id"], parts, error, lifetime(block))
    elif kind == "thinking":
        yield from envelope.unseal(block["thinking"], block.get("signature") or "")
    elif kind == "redacted_thinking":
        yield Thinking("", str(block.get("data")), envelope.NATIVE, redacted=True)
    elif kind not in CHANGES:
        yield from _content(path, block)


def _result(path: str, content: str | list[Json] | None) -> Iterable[Text | Image | File]:
    if isinstance(content, str):
        yield Text(content)
        return
    for place, block in enumerate(content or ()):
        yield from _content(f"{path}.content[{place}]", block)


def _content(path: str, block: Json) -> Iterable[Text | Image | File]:
    kind, cache = block["type"], lifetime(block)
    if kind == "text":
        yield Text(block["text"], cache)
    elif kind == "image":
        source = block["source"]
        if source["type"] == "base64":
            yield Image(data=source["data"], media_type=source["media_type"], cache=cache)
        elif source["type"] == "url":
            yield Image(url=source["url"], cache=cache)
        else:
            raise Refused(_elsewhere(f"{path}.source"))
    elif kind == "document":
        yield from _document(path, block, cache)
    elif kind == "search_result":
        told = [block.get("title"), block.get("source")]
        texts = [item.get("text") for item in block.get("content") or ()]
        yield Text("\n".join(text for text in told + texts if isinstance(text, str)), cache)
    else:
        # What a provider's own tool did, in history: its words are all that others can read.
        yield Text(f"[{kind}] {json.encode(_readable(block)).decode()}")


def _document(path: str, block: Json, cache: str | None) -> Iterable[Text | Image | File]:
    source, title = block["source"], block.get("title")
    name = title if isinstance(title, str) else None
    kind = source["type"]
    if kind == "base64":
        media_type = source["media_type"]
        yield File(data=source["data"], media_type=media_type, filename=name, cache=cache)
    elif kind == "url":
        yield File(url=source["url"], media_type="application/pdf", filename=name, cache=cache)
    elif kind == "text":
        text = source.get("data") or ""
        yield Text(f"{name}\n\n{text}" if name else text, cache)
    elif kind == "content":
        if name:
            yield Text(name)
        yield from _result(f"{path}.source", source.get("content"))
    else:
        raise Refused(_elsewhere(f"{path}.source"))


def _elsewhere(path: str) -> problems.Problem:
    told = (
        f"'{path}' names a file stored at a provider, which no other route can read; send the "
        "file itself."
    )
    return problems.unsupported_content(path, told)


def _readable(value: Any) -> Any:
    """A block without what only Anthropic can read: types, breakpoints, encrypted content."""
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _readable(item)
        for key, item in value.items()
        if key not in ("type", "cache_control") and not key.startswith("encrypted")
    }


def _tool(path: str, tool: Json) -> Tool:
    if tool.get("type") not in (None, "custom"):
        told = (
            f"'{path}' is a tool that Anthropic runs; this model's provider has none of that kind."
        )
        raise Refused(problems.unsupported_content(path, told))
    return Tool(
        tool["name"],
        tool.get("description"),
        tool["input_schema"],
        tool.get("strict"),
        lifetime(tool),
    )


def _choice(choice: Json) -> ToolChoice | None:
    kind = choice.get("type")
    if kind == "tool":
        return ToolChoice("named", choice["name"])
    if kind == "any":
        return ToolChoice("required")
    if kind == "none":
        return ToolChoice("none")
    return ToolChoice("auto") if kind == "auto" else None


def _format(wanted: Json | None) -> AnswerFormat | None:
    if wanted is None:
        return None
    return AnswerFormat("json_schema", "answer", wanted["schema"])
