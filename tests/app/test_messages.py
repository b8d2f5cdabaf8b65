"""The Messages endpoint in front of upstreams of both formats."""

import asyncio
import json
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, Start
from tests.formats.anthropic import made
from tests.formats.anthropic.test_writer import message
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply
from zurelay.testing.script import (
    Close,
    Pause,
    Script,
    Stall,
    Step,
    chunk,
    json_reply,
    sse_event,
    sse_reply,
)
from zurelay.testing.upstream import ScriptedUpstream

CLAUDE = "claude-opus-4-6"
EARLY = "[streaming]\nearly_open_s = 0.1\nkeep_alive_s = 0.1\n"
HI = [{"role": "user", "content": "Hi"}]


def config(chat: ScriptedUpstream, claude: ScriptedUpstream, more: str = "") -> str:
    """`test-model` by a Chat Completions upstream, Claude by one of its own format."""
    return f"""
[server]
expose_routes = false
{more}
[sandbox]
enabled = false
[providers.chat]
kind = "groq"
base_url = "{chat.base_url}"
api_key = "SECRET-1234"
catalogue = false
[providers.claude]
kind = "anthropic"
base_url = "{claude.base_url}"
api_key = "SECRET-5678"
catalogue = false
[models."test-model"]
routes = [{{ provider = "chat", model = "upstream-name" }}]
context = 100000
price = {{ input = "1.00", cached_input = "0.10", output = "5.00" }}
[models."{CLAUDE}"]
routes = [{{ provider = "claude", model = "upstream-claude" }}]
price = {{ input = "3", cached_input = "0.30", cache_write = "3.75", output = "15" }}
"""


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream) -> Caller:
    return await start(config(upstream, second))


async def ask(caller: Caller, path: str = "", headers: Any = None, **fields: Any) -> Answer:
    body = {"model": "test-model", "max_tokens": 100, "messages": HI, **fields}
    sent = {
        "x-api-key": caller.gateway.key,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        **(headers or {}),
    }
    return await caller.send("POST", f"/v1/messages{path}", json.dumps(body).encode(), sent)


def raw_stream(*parts: bytes, end: Step | None = None) -> Script:
    return [
        *sse_reply([])[:-1],
        *(chunk(part) for part in parts),
        *([end] if end else [chunk(b"")]),
    ]


USED = {
    "prompt_tokens": 5000,
    "completion_tokens": 40,
    "total_tokens": 5040,
    "prompt_tokens_details": {"cached_tokens": 4000},
}


async def test_a_plain_answer_of_another_format(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply(chat_reply("Hello", usage=USED)))
    answer = await ask(caller, system="S", metadata={"user_id": "u7"})
    assert answer.status == 200
    assert answer.json["content"] == [{"type": "text", "text": "Hello"}]
    assert answer.json["model"] == "test-model"
    assert answer.json["id"].startswith("msg_")
    assert answer.json["usage"]["input_tokens"] == 1000
    assert answer.json["usage"]["cache_read_input_tokens"] == 4000
    assert answer.headers["request-id"] == answer.headers["x-request-id"]
    assert answer.headers["x-zurelay-model"] == "test-model"
    sent = upstream.requests[0].json
    assert [m["content"] for m in sent["messages"]] == ["S", "Hi"]
    assert "u7" not in json.dumps(sent)
    logged = await caller.logged(answer)
    assert (logged["user"], logged["status"]) == ("u7", "ok")


async def test_a_stream_of_another_format(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(sse_reply(chat_chunks("Hello there", usage=USED)))
    answer = await ask(caller, stream=True)
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    found = message(answer.body)
    assert found["content"] == [{"type": "text", "text": "Hello there"}]
    assert found["usage"]["input_tokens"] == 1000
    assert found["usage"]["output_tokens"] == 40
    started = made.events(answer.body)[0][1]["message"]["usage"]
    assert started["input_tokens"] > 0


MCP = [{"type": "url", "url": "https://tools.example", "name": "t", "authorization_token": "x"}]


async def test_what_lies_in_the_account_at_anthropic_is_refused_where_callers_share_it(
    caller: Caller, second: ScriptedUpstream
) -> None:
    answer = await ask(caller, model=CLAUDE, mcp_servers=MCP)
    assert answer.status == 400
    assert "'mcp_servers'" in answer.json["error"]["message"]
    assert second.requests == []


async def test_where_they_do_not_it_passes_unchanged(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    alone = config(upstream, second).replace(
        '"SECRET-5678"\n', '"SECRET-5678"\nsingle_tenant = true\n'
    )
    caller = await start(alone)
    second.enqueue(raw_stream(made.start() + made.text(0, "Hello") + made.stop()))
    block = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    messages = [{"role": "user", "content": [block]}]
    answer = await ask(caller, model=CLAUDE, stream=True, mcp_servers=MCP, messages=messages)
    assert answer.status == 200
    sent = second.requests[0].json
    assert (sent["mcp_servers"], sent["messages"]) == (MCP, messages)


async def test_claude_gets_the_callers_own_bytes(caller: Caller, second: ScriptedUpstream) -> None:
    body = made.start() + made.text(0, "Hello") + made.stop()
    second.enqueue(raw_stream(body))
    cached = {"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    answer = await ask(
        caller,
        headers={"anthropic-beta": "context-management-2025-06-27, other"},
        model=CLAUDE,
        stream=True,
        system=[cached],
        context_management={"edits": [{"type": "x", "n": 1.0}]},
        metadata={"user_id": "u"},
    )
    assert message(answer.body)["content"] == [{"type": "text", "text": "Hello"}]
    request = second.requests[0]
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == "SECRET-5678"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.headers["anthropic-beta"] == "context-management-2025-06-27,other"
    assert "authorization" not in request.headers
    sent = request.json
    assert sent["model"] == "upstream-claude"
    assert sent["system"] == [cached]
    assert b'"context_management":{"edits": [{"type": "x", "n": 1.0}]}' in request.body
    assert "metadata" not in sent
    started = made.events(answer.body)[0][1]["message"]
    assert started["model"] == CLAUDE
    assert started["id"].startswith("msg_")
    assert started["id"] != "msg_up"
    assert "upstream" not in answer.body.decode()


async def test_a_plain_answer_of_claude(caller: Caller, second: ScriptedUpstream) -> None:
    reply = {
        "id": "msg_up",
        "type": "message",
        "role": "assistant",
        "model": "upstream-claude",
        "content": [{"type": "text", "text": "Hi", "citations": [{"x": 1}]}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5, "service_tier": "standard"},
        "new_field": {"a": 1},
    }
    second.enqueue(json_reply(reply))
    answer = await ask(caller, model=CLAUDE, output_config={"effort": "low"})
    assert answer.json["content"] == reply["content"]
    assert answer.json["new_field"] == {"a": 1}
    assert answer.json["usage"] == reply["usage"]
    assert answer.json["model"] == CLAUDE
    assert answer.headers["x-zurelay-reasoning-effort"] == "low"


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [True, False])
async def test_cache_writes_are_charged_once(
    caller: Caller, second: ScriptedUpstream, path: str, stream: bool
) -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 12304,
        "cache_read_input_tokens": 0,
        "output_tokens": 550,
    }
    if stream:
        second.enqueue(raw_stream(made.start(**usage) + made.text(0, "a") + made.stop(usage=usage)))
    else:
        reply = {
            "content": [{"type": "text", "text": "a"}],
            "stop_reason": "end_turn",
            "usage": usage,
        }
        second.enqueue(json_reply(reply))
    body = {"model": CLAUDE, "max_tokens": 9, "messages": HI, "stream": stream}
    if not path.endswith("messages"):
        body["reasoning_effort"] = "low"  # else a plain one is asked as a stream
    else:
        body["output_config"] = {"effort": "low"}
    answer = await caller.send(
        "POST", path, json.dumps(body).encode(), dict(caller.gateway.headers)
    )
    assert answer.status == 200
    logged = await caller.logged(answer)
    assert logged["cost_usd"] == "0.054399"
    assert logged["usage"]["prompt_tokens"] == 12307


async def test_chat_clients_of_claude(caller: Caller, second: ScriptedUpstream) -> None:
    second.enqueue(raw_stream(made.RICH))
    answer = await caller.chat(model=CLAUDE, stream=True, stream_options={"include_usage": True})
    assert answer.text == "北京 😀é"
    assert answer.chunks[-1]["usage"]["prompt_tokens"] == 2459
    assert second.requests[0].json["max_tokens"] == 8192


async def test_a_failed_claude_is_followed_by_another_format(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, second))
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    second.enqueue(json_reply(error, status=529))
    upstream.enqueue(sse_reply(chat_chunks("Hello")))
    answer = await ask(caller, model=CLAUDE, models=["test-model"], stream=True)
    assert message(answer.body)["model"] == "test-model"
    assert answer.headers["x-zurelay-routed-from"] == CLAUDE


async def test_an_error_inside_the_stream_before_the_first_token_moves_on(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, second))
    error = made.event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    second.enqueue(raw_stream(made.start(), error))
    upstream.enqueue(sse_reply(chat_chunks("Hello")))
    answer = await ask(caller, model=CLAUDE, models=["test-model"], stream=True)
    assert message(answer.body)["content"][0]["text"] == "Hello"


@pytest.mark.parametrize("model", [CLAUDE, "test-model"])
async def test_an_upstream_that_breaks_off_ends_in_an_error_event(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream, model: str
) -> None:
    upstream.enqueue(
        [*sse_reply([])[:-1], chunk(sse_event(chat_chunk({"content": "half"}))), Close()]
    )
    opened = made.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    delta = {"type": "text_delta", "text": "half"}
    half = opened + made.event("content_block_delta", index=0, delta=delta)
    second.enqueue(raw_stream(made.start(), half, end=Close()))
    answer = await ask(caller, model=model, stream=True)
    told = made.events(answer.body)
    assert told[-1][0] == "error"
    assert told[-1][1]["error"]["type"] == "api_error"
    assert b"half" in answer.body
    assert b"message_stop" not in answer.body
    assert (await caller.logged(answer))["status"] == "error"


async def test_silence_is_filled_with_comments_then_pings(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, second, EARLY))
    first, then = asyncio.Event(), asyncio.Event()
    upstream.enqueue(
        [
            *sse_reply([])[:-1],
            Pause(first),
            chunk(sse_event(chat_chunk({"content": "a"}))),
            Pause(then),
            *(chunk(sse_event(e)) for e in (chat_chunk({}, finish_reason="stop"), "[DONE]")),
            chunk(b""),
        ]
    )

    async def later() -> None:
        await asyncio.sleep(0.35)
        first.set()
        await asyncio.sleep(0.25)
        then.set()

    task = asyncio.create_task(later())
    answer = await ask(caller, stream=True)
    await task
    before, _, after = answer.body.partition(b"event: message_start")
    assert b": keep-alive\n\n" in before
    assert b"event: ping" not in before
    assert b'event: ping\ndata: {"type":"ping"}\n\n' in after
    assert b": keep-alive" not in after
    assert message(answer.body.replace(b'event: ping\ndata: {"type":"ping"}\n\n', b""))


async def test_a_thinking_block_is_life_and_no_token(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, second))
    block = {"type": "thinking", "thinking": "", "signature": ""}
    opened = made.event("content_block_start", index=0, content_block=block)
    second.enqueue(raw_stream(made.start(), opened, end=Close()))
    answer = await ask(caller, model=CLAUDE, stream=True)
    assert answer.status == 502
    assert answer.json["error"]["type"] == "api_error"


async def test_a_client_that_leaves_cancels_claude(
    caller: Caller, second: ScriptedUpstream
) -> None:
    second.enqueue(raw_stream(made.start(), made.text(0, "a"), end=Stall()))
    task = asyncio.create_task(ask(caller, model=CLAUDE, stream=True))
    await second.wait_requests()
    task.cancel()
    await second.wait_closed()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("headers", "fields", "status", "kind"),
    [
        ({"x-api-key": "zk-wrong"}, {}, 401, "authentication_error"),
        ({}, {"model": "none"}, 404, "not_found_error"),
        ({}, {"max_tokens": None}, 400, "invalid_request_error"),
        ({}, {"messages": []}, 400, "invalid_request_error"),
        ({}, {"output_config": {"effort": "huge"}}, 400, "invalid_request_error"),
        ({"content-encoding": "lzw"}, {}, 415, "invalid_request_error"),
    ],
)
async def test_errors_have_anthropics_shape(
    caller: Caller, headers: Any, fields: Any, status: int, kind: str, stream: bool
) -> None:
    for path in ("", "/count_tokens"):
        answer = await ask(caller, path, headers, stream=stream, **fields)
        if path and fields == {"max_tokens": None}:
            assert answer.status == 200
            continue
        assert answer.status == status
        assert answer.json["type"] == "error"
        assert answer.json["error"]["type"] == kind
        assert answer.json["request_id"] == answer.headers["request-id"]


@pytest.mark.parametrize(
    ("status", "shown", "kind"),
    [(529, 529, "overloaded_error"), (500, 502, "api_error"), (429, 429, "rate_limit_error")],
)
async def test_upstream_errors_have_anthropics_shape(
    caller: Caller, second: ScriptedUpstream, status: int, shown: int, kind: str
) -> None:
    body = {"type": "error", "error": {"type": "x", "message": "m"}}
    script = json_reply(body, status=status, headers={"retry-after": "7"})
    second.enqueue(script, script)
    answer = await ask(caller, model=CLAUDE, stream=True)
    assert (answer.status, answer.json["error"]["type"]) == (shown, kind)
    if status == 429:
        assert answer.headers["retry-after"] == "7"


async def test_a_prompt_that_is_too_long_says_so(
    caller: Caller, second: ScriptedUpstream, upstream: ScriptedUpstream
) -> None:
    told = "prompt is too long: 250000 tokens > 200000 maximum"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
    second.enqueue(json_reply(body, status=400))
    answer = await ask(caller, model=CLAUDE)
    assert (answer.status, answer.json["error"]["message"]) == (400, told)
    other = {"error": {"message": "too many", "code": "context_length_exceeded"}}
    upstream.enqueue(json_reply(other, status=400))
    assert "prompt is too long" in (await ask(caller)).json["error"]["message"]


async def test_no_credit_at_anthropic_is_not_the_callers_fault(
    caller: Caller, second: ScriptedUpstream
) -> None:
    told = "Your credit balance is too low to access the Anthropic API."
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
    second.enqueue(json_reply(body, status=400))
    answer = await ask(caller, model=CLAUDE)
    assert answer.status == 502
    assert "credit" not in answer.json["error"]["message"]


async def test_the_sandbox_answers_messages(start: Start) -> None:
    caller = await start("[sandbox]\nenabled = true\n")
    answer = await ask(caller, model="sandbox/echo", stream=True)
    assert message(answer.body)["content"] == [{"type": "text", "text": "Hi"}]
