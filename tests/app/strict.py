"""Upstreams that refuse what the real ones refuse, and a gateway in front of them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from tests.app.conftest import Answer, Caller
from tests.formats.anthropic import made
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import Script, chunk, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

Json = dict[str, Any]

CLAUDE = "claude-opus-4-6"
BUDGETS = "claude-opus-4-5"
NEWEST = "claude-opus-5-5"
NAMES = '{"names": ["Ana"]}'
LIMITS = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "pattern",
    }
)


def config(claude: ScriptedUpstream, chat: ScriptedUpstream) -> str:
    """Claude by two routes, `test-model` by Chat Completions, GPT by Chat or by Responses."""
    models = "".join(
        f'[models."{name}"]\nroutes = ["claude", {{ provider = "again", priority = 2 }}]\n'
        for name in (CLAUDE, BUDGETS, NEWEST)
    )
    return f"""
[sandbox]
enabled = false
[providers.claude]
kind = "anthropic"
base_url = "{claude.base_url}"
api_key = "k"
catalogue = false
[providers.again]
kind = "anthropic"
base_url = "{claude.base_url}"
api_key = "k"
catalogue = false
[providers.chat]
kind = "groq"
base_url = "{chat.base_url}"
api_key = "k"
catalogue = false
[providers.azure]
kind = "azure-openai"
base_url = "{chat.base_url}"
api_key = "k"
[models."gpt-5.5-pro"]
routes = ["azure"]
[models."test-model"]
routes = ["chat"]
context = 100000
reasoning = {{ levels = ["none", "low", "high"] }}
[models."third-party"]
routes = [{{ provider = "claude", model = "theirs" }}]
quirks = {{ long_cache = false }}
{models}"""


async def messages(caller: Caller, model: str = "test-model", **fields: Any) -> Answer:
    """Ask `/v1/messages`."""
    body = {"model": model, "max_tokens": 4000, "messages": [], **fields}
    headers = {**caller.gateway.headers, "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    return await caller.send("POST", "/v1/messages", json.dumps(body).encode(), headers)


async def respond(caller: Caller, model: str, **fields: Any) -> Answer:
    """Ask `/v1/responses`."""
    headers = {**caller.gateway.headers, "content-type": "application/json"}
    body = json.dumps({"model": model, "input": "Hi", **fields}).encode()
    return await caller.send("POST", "/v1/responses", body, headers)


# Anthropic


def claude(request: Request) -> Script:
    """Anthropic's endpoint: its refusals, and an answer that fits the request."""
    body = request.json
    why = next(refusals(body), None)
    if why is not None:
        error = {"type": "invalid_request_error", "message": why}
        return json_reply({"type": "error", "error": error}, 400)
    return told(body, *_answer(body))


def told(body: Json, *content: Json) -> Script:
    """`content` as a message or as its stream, whichever was asked for."""
    reason = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
    if not body.get("stream"):
        usage = {"input_tokens": 7, "output_tokens": 5}
        whole = {"id": "msg_up", "type": "message", "role": "assistant", "model": "up"}
        ended = {"stop_reason": reason, "stop_sequence": None, "usage": usage}
        return json_reply({**whole, "content": list(content), **ended})
    blocks = b"".join(_streamed(at, block) for at, block in enumerate(content))
    return [*sse_reply([])[:-1], chunk(made.start() + blocks + made.stop(reason)), chunk(b"")]


def _streamed(at: int, block: Json) -> bytes:
    if block["type"] == "thinking":
        return made.thinking(at, block["thinking"], signature=block["signature"])
    if block["type"] == "tool_use":
        return made.call(at, block["id"], block["name"], json.dumps(block["input"]))
    half = len(block["text"]) // 2
    return made.text(at, block["text"][:half], block["text"][half:])


def _answer(body: Json) -> Iterable[Json]:
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        yield {"type": "thinking", "thinking": "Hm.", "signature": "SIG1"}
    last = body["messages"][-1]["content"]
    if "format" in body.get("output_config", {}):
        yield {"type": "text", "text": NAMES}
    elif "name" in body.get("tool_choice", {}):
        name = body["tool_choice"]["name"]
        yield {"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(NAMES)}
    elif "JSON" in json.dumps(last):
        yield {"type": "text", "text": f"```json\n{NAMES}\n```"}
    elif body.get("tools") and not any(b["type"] == "tool_result" for b in last):
        yield {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
    else:
        yield {"type": "text", "text": "The people are Ana"}


def refusals(body: Json) -> Iterator[str]:
    """Why Anthropic would refuse a request."""
    turns = body["messages"]
    roles = [turn["role"] for turn in turns if turn["role"] != "system"]
    if roles[0] != "user" or any(a == b for a, b in pairwise(roles)):
        yield "messages: roles must alternate"
    for content in (body.get("system", []), *(turn["content"] for turn in turns)):
        texts = [block["text"] for block in content if block["type"] == "text"]
        if any(not text for text in texts):
            yield "text content blocks must be non-empty"
        if texts and not any(text.strip() for text in texts):
            yield "must contain non-whitespace text"
    for before, after in zip(turns, [*turns[1:], {"content": []}], strict=True):
        calls = [b["id"] for b in before["content"] if b["type"] == "tool_use"]
        first = after["content"][: len(calls)]
        if {b.get("tool_use_id") for b in first} != set(calls):
            yield "tool_use ids were found without tool_result"
    if body.get("thinking", {}).get("type") == "enabled" and not _thought(turns):
        yield "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    if any(not stop.strip() for stop in body.get("stop_sequences", ())):
        yield "each stop sequence must be non-empty"
    if '"ttl"' in json.dumps(body) and body["model"] == "theirs":
        yield "cache_control.ttl: 1h is not supported"
    yield from _schema_refusals(body.get("output_config", {}).get("format", {}).get("schema", {}))


def _thought(turns: list[Json]) -> bool:
    called = [t["content"] for t in turns if any(b["type"] == "tool_use" for b in t["content"])]
    return not called or called[-1][0].get("signature") == "SIG1"


def _schema_refusals(schema: object) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    found = LIMITS & schema.keys()
    if found:
        yield f"properties {sorted(found)} are not supported"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield "additionalProperties must be false"
    tables = (schema.get("properties"), schema.get("$defs"))
    inner = [item for table in tables if table for item in table.values()]
    for item in (*inner, *schema.get("anyOf", ()), schema.get("items")):
        yield from _schema_refusals(item)


# OpenAI


def openai(request: Request) -> Script:
    """OpenAI's two endpoints: their refusals, and an answer."""
    body = request.json
    why = next(chat_refusals(body) if "messages" in body else responses_refusals(body), None)
    if why is not None:
        error = {"message": why, "type": "invalid_request_error", "param": None, "code": None}
        return json_reply({"error": error}, 400)
    wanted = body.get("response_format") or body.get("text", {}).get("format")
    text = NAMES if wanted else "ok"
    if "input" in body:
        part = {"type": "output_text", "text": text}
        item = {"id": "m", "type": "message", "role": "assistant", "content": [part]}
        return json_reply({"id": "r", "status": "completed", "output": [item]})
    if body.get("stream"):
        return sse_reply(chat_chunks([text[:3], text[3:]] if wanted else text))
    return json_reply(chat_reply(text))


def chat_refusals(body: Json) -> Iterator[str]:
    """Why a strict upstream would refuse a Chat Completions request."""
    if "cache_control" in json.dumps(body):
        yield "cache_control: Extra inputs are not permitted"
    if len(body.get("stop", ())) > 4:
        yield "stop: at most 4"
    open_calls: list[str] = []
    for turn in body["messages"]:
        if turn["role"] == "tool":
            content = turn["content"]
            if not isinstance(content, str) and any(part["type"] != "text" for part in content):
                yield "a tool message takes text alone"
            if turn["tool_call_id"] not in open_calls:
                yield "a tool message must follow its call"
            else:
                open_calls.remove(turn["tool_call_id"])
        elif open_calls:
            yield f"tool_calls without a result: {open_calls}"
        open_calls += [call["id"] for call in turn.get("tool_calls", ())]


def responses_refusals(body: Json) -> Iterator[str]:
    """Why OpenAI would refuse a Responses request."""
    called: set[str] = set()
    for item in body["input"]:
        if item.get("type") == "function_call":
            called.add(item["call_id"])
        if item.get("type") == "function_call_output" and item["call_id"] not in called:
            yield "No tool call found for function call output"
    if "stop" in body:
        yield "Unknown parameter: 'stop'"
