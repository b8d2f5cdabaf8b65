"""Chat Completions through the whole gateway: what goes up, what comes back, what is logged."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
import zstandard

from tests.app.conftest import Caller
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import Close, json_reply, reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 20,
    "total_tokens": 1020,
    "prompt_tokens_details": {"cached_tokens": 800},
}


async def test_a_plain_answer_is_ours_in_name_and_the_models_in_content(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("Hello", model="upstream-name", usage=USAGE)))
    answer = await caller.chat(user="u-1", metadata={"team": "a"}, top_k=5)

    sent = upstream.requests[0]
    assert sent.path == "/chat/completions"
    assert sent.headers["authorization"] == "Bearer SECRET-1234"
    assert sent.json == {
        "model": "upstream-name",
        "messages": [{"role": "user", "content": "Hi"}],
        "top_k": 5,
    }
    assert answer.status == 200
    body = answer.json
    assert body["model"] == "test-model"
    assert body["id"].startswith("chatcmpl-")
    assert body["id"] != "chatcmpl-scripted"
    assert body["choices"][0]["message"]["content"] == "Hello"
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 800
    assert answer.headers["x-zurelay-model"] == "test-model"
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.headers["server-timing"].startswith("gateway;dur=")
    assert "x-zurelay-routed-from" not in answer.headers


async def test_every_request_leaves_one_row_with_its_exact_cost(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("Hello", usage=USAGE)))
    row = await caller.logged(await caller.chat(user="u-1", metadata={"team": "a"}))
    # 200 at 1.00, 800 at 0.10 and 20 at 5.00 USD per million
    assert row["cost_usd"] == "0.00038"
    assert row["cost_estimated"] is False
    assert (row["status"], row["http_status"]) == ("ok", 200)
    assert (row["model"], row["answered_by"]) == ("test-model", "test-model")
    assert (row["user"], row["metadata"]) == ("u-1", {"team": "a"})
    assert row["usage"]["completion_tokens"] == 20
    assert [attempt["status"] for attempt in row["attempts"]] == ["ok"]
    assert row["finish_reason"] == "stop"


@pytest.mark.parametrize("asked", [True, False])
async def test_usage_is_always_asked_for_and_shown_only_to_who_asked(
    caller: Caller, upstream: ScriptedUpstream, asked: bool
) -> None:
    upstream.enqueue(sse_reply(chat_chunks("Hello there", model="upstream-name", usage=USAGE)))
    options: dict[str, Any] = {"stream_options": {"include_usage": True}} if asked else {}
    answer = await caller.chat(stream=True, **options)

    assert upstream.requests[0].json["stream_options"] == {"include_usage": True}
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.text == "Hello there"
    assert answer.events[-1] == "data: [DONE]"
    assert {chunk["model"] for chunk in answer.chunks} == {"test-model"}
    assert len({chunk["id"] for chunk in answer.chunks}) == 1
    with_usage = [chunk for chunk in answer.chunks if chunk.get("usage")]
    if asked:
        assert with_usage == [answer.chunks[-1]]
        assert with_usage[0]["choices"] == []
        assert with_usage[0]["usage"]["total_tokens"] == 1020
    else:
        assert with_usage == []
        assert all(chunk["choices"] for chunk in answer.chunks)
    row = await caller.logged(answer)
    assert row["cost_usd"] == "0.00038"
    assert row["first_token_ms"] is not None


async def test_a_stream_without_usage_is_billed_by_estimate_and_marked(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(sse_reply(chat_chunks("Hello there")))
    row = await caller.logged(await caller.chat(stream=True))
    assert row["cost_estimated"] is True
    assert row["usage"]["completion_tokens"] > 0


ENCODED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("encoding", ENCODED)
async def test_encoded_bodies_are_opened_and_sent_on_plain(
    caller: Caller, upstream: ScriptedUpstream, encoding: str
) -> None:
    upstream.enqueue(json_reply(chat_reply()))
    body = {"model": "test-model", "messages": [{"role": "user", "content": "Hi"}]}
    packed = ENCODED[encoding](json.dumps(body).encode())
    headers = {**caller.gateway.headers, "content-encoding": encoding}
    answer = await caller.send("POST", "/v1/chat/completions", packed, headers)
    assert answer.status == 200
    assert "content-encoding" not in upstream.requests[0].headers
    assert upstream.requests[0].json["messages"] == body["messages"]


REFUSED: dict[str, tuple[dict[str, Any], int, str, str | None]] = {
    "temperature": ({"temperature": 3}, 400, "invalid_value", "temperature"),
    "stop": ({"stop": ["a", "b", "c", "d", "e"]}, 400, "invalid_value", "stop[4]"),
    "role": (
        {"messages": [{"role": "robot", "content": "x"}]},
        400,
        "invalid_value",
        "messages[0].role",
    ),
    "part": (
        {"messages": [{"role": "user", "content": [{"type": "smell"}]}]},
        400,
        "invalid_value",
        "messages[0].content[0].type",
    ),
    "no messages": ({"messages": None}, 400, "missing_required_parameter", "messages"),
    "no model": ({"model": None}, 400, "missing_required_parameter", "model"),
    "unknown model": ({"model": "test-modle"}, 404, "model_not_found", "model"),
    "unknown alternative": ({"models": ["nope"]}, 400, "invalid_value", "models[0]"),
    "effort": ({"reasoning_effort": "lots"}, 400, "invalid_value", "reasoning_effort"),
    "audio": (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
                    ],
                }
            ]
        },
        400,
        "unsupported_content",
        "messages[0].content[0]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_bad_input_gets_one_clear_error_and_one_row_and_reaches_no_upstream(
    caller: Caller, upstream: ScriptedUpstream, name: str
) -> None:
    fields, status, code, param = REFUSED[name]
    answer = await caller.chat(**fields)
    error = answer.json["error"]
    assert (answer.status, error["code"], error["param"]) == (status, code, param)
    assert error["type"] == "invalid_request_error"
    assert upstream.requests == []
    row = await caller.logged(answer)
    assert (row["status"], row["http_status"], row["error"]) == ("error", status, code)
    assert row["cost_usd"] == "0"
    assert row["attempts"] == []


async def test_an_unknown_model_names_the_nearest(caller: Caller) -> None:
    answer = await caller.chat(model="test-modle")
    assert "'test-model'" in answer.json["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 5000])
async def test_a_body_that_is_no_json_object_is_said_to_be_so(caller: Caller, body: bytes) -> None:
    answer = await caller.send("POST", "/v1/chat/completions", body)
    assert (answer.status, answer.json["error"]["code"]) == (400, "invalid_json")


KEYS: dict[str, dict[str, str]] = {
    "none": {},
    "garbage": {"authorization": "Bearer nonsense"},
    "cut": {"authorization": "Bearer zk-abc"},
    "basic": {"authorization": "Basic abc"},
}


@pytest.mark.parametrize("name", KEYS)
async def test_a_call_without_a_good_key_is_401_and_tells_nothing_back(
    caller: Caller, name: str
) -> None:
    answer = await caller.send("POST", "/v1/chat/completions", b"{}", KEYS[name])
    error = answer.json["error"]
    assert (answer.status, error["type"], error["code"]) == (
        401,
        "authentication_error",
        "invalid_api_key",
    )
    assert "nonsense" not in error["message"]
    assert answer.headers["x-request-id"].startswith("req_")


async def test_the_key_may_come_as_x_api_key(caller: Caller, upstream: ScriptedUpstream) -> None:
    upstream.enqueue(json_reply(chat_reply()))
    body = json.dumps({"model": "test-model", "messages": [{"role": "user", "content": "x"}]})
    answer = await caller.send(
        "POST", "/v1/chat/completions", body.encode(), {"x-api-key": caller.gateway.key}
    )
    assert answer.status == 200


UPSTREAM_FAULTS = {
    "500": (json_reply({"error": {"message": "SECRET-1234 broke"}}, 500), 502, "upstream_failed"),
    "503": (json_reply({"error": {"message": "busy"}}, 503), 503, "no_route_available"),
    "401": (json_reply({"error": {"message": "bad SECRET-1234"}}, 401), 502, "upstream_failed"),
    "402": (json_reply({"error": {"message": "pay"}}, 402), 502, "upstream_failed"),
    "404": (json_reply({"error": {"message": "no model"}}, 404), 502, "upstream_failed"),
    "not json": (reply(b"<html>", 200, {"content-type": "text/html"}), 502, "upstream_failed"),
    "error in a 200": (
        json_reply({"error": {"message": "x", "code": 502}}),
        502,
        "upstream_failed",
    ),
    "closed": ([Close()], 502, "upstream_failed"),
    "empty": (json_reply(chat_reply("")), 502, "upstream_failed"),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", UPSTREAM_FAULTS)
async def test_an_upstreams_fault_is_told_without_secrets_and_leaves_one_row(
    caller: Caller, upstream: ScriptedUpstream, name: str, stream: bool
) -> None:
    script, status, code = UPSTREAM_FAULTS[name]
    upstream.enqueue(script, script)
    answer = await caller.chat(stream=stream)
    error = answer.json["error"]
    assert (answer.status, error["type"], error["code"]) == (status, "upstream_error", code)
    assert b"SECRET" not in answer.body
    assert b"upstream-name" not in answer.body
    assert answer.headers["content-type"] == "application/json"
    row = await caller.logged(answer)
    assert (row["status"], row["error"], row["cost_usd"]) == ("error", code, "0")
    assert row["attempts"][0]["status"] == "failed"


async def test_the_requests_own_fault_is_passed_on_once_in_the_callers_words(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    fault = {
        "error": {
            "message": "upstream-name takes no such thing, says https://10.1.2.3/x",
            "type": "invalid_request_error",
            "param": "tools",
            "code": "unsupported_parameter",
        }
    }
    upstream.enqueue(json_reply(fault, 400))
    answer = await caller.chat()
    error = answer.json["error"]
    assert (answer.status, error["code"], error["param"]) == (400, "unsupported_parameter", "tools")
    assert error["message"].startswith("test-model takes no such thing")
    assert "10.1.2.3" not in error["message"]
    assert len(upstream.requests) == 1


async def test_a_stream_that_breaks_off_ends_with_an_error_event_and_is_billed(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    broken = [*sse_reply(chat_chunks(["Hel", "lo"])[:3])[:-1], Close()]
    upstream.enqueue(broken)
    answer = await caller.chat(stream=True)
    assert answer.status == 200
    assert answer.text == "Hello"
    last = json.loads(answer.events[-1].removeprefix("data: "))
    assert last["error"]["type"] == "upstream_error"
    assert "[DONE]" not in answer.body.decode()
    row = await caller.logged(answer)
    assert row["status"] == "error"
    assert row["cost_estimated"] is True
    assert row["cost_usd"] != "0"
