"""Bedrock through the whole gateway; the other side checks each signature with AWS's own code."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.app.conftest import Caller, Start
from tests.formats.bedrock_invoke.invoking import PLAIN as MESSAGE
from tests.formats.bedrock_invoke.invoking import STREAM
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.event_stream import (
    event_stream_event,
    event_stream_exception,
    event_stream_reply,
)
from zurelay.testing.script import Close, Script, byte_by_byte, cut, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

CONFIG = """
[server]
expose_routes = false

[providers.aws]
kind = "bedrock"
region = "eu-central-1"
access_key_id = "AKIDTEST"
secret_access_key = "SECRET/WITH+SIGNS"
session_token = "TOKEN-1234"
base_url = "{upstream}"
catalogue = false
{more}
[models."test-model"]
routes = [{{ provider = "aws", model = "eu.lab.model-v1:0" }}{routes}]
price = {{ input = "1.00", cached_input = "0.10", output = "5.00" }}
[models."claude-opus-5-5"]
routes = [{{ provider = "aws", model = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/x" }}]
[models."our-claude"]
routes = [{{ provider = "aws", model = "anthropic.claude-x" }}]
quirks = {{ effort_form = "claude_effort" }}
reasoning = {{ levels = ["low", "high"] }}
"""
SECOND = """
[providers.second]
kind = "groq"
base_url = "{second}"
api_key = "gsk-1"
catalogue = false
"""
USAGE = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 1000, "cacheReadInputTokens": 880}
HELLO = [
    event_stream_event("messageStart", {"role": "assistant"}),
    event_stream_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hello "}}),
    event_stream_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "there"}}),
    event_stream_event("contentBlockStop", {"contentBlockIndex": 0}),
]
END = [
    event_stream_event("messageStop", {"stopReason": "end_turn"}),
    event_stream_event("metadata", {"usage": USAGE, "metrics": {"latencyMs": 5}}),
]


def reply(text: str = "Hello there") -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": text}]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": USAGE}


def refuses(request: Request) -> str:
    """Why AWS would refuse the signature of `request`; empty if it would not."""
    told = request.headers["authorization"]
    credential, signed, signature = (
        piece.split("=", 1)[1] for piece in told.removeprefix("AWS4-HMAC-SHA256 ").split(", ")
    )
    key, date, region, service, ending = credential.split("/")
    if (key, region, service, ending) != ("AKIDTEST", "eu-central-1", "bedrock", "aws4_request"):
        return f"credential {credential}"
    stamp = request.headers["x-amz-date"]
    sent = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if abs((datetime.now(UTC) - sent).total_seconds()) > 300 or not stamp.startswith(date):
        return f"time {stamp}"
    names = signed.split(";")
    if not {"host", "x-amz-date", "x-amz-security-token"} <= set(names):
        return f"headers {names}"
    url = f"http://{request.headers['host']}{request.path}"
    under = {name: request.headers[name] for name in names}
    theirs = AWSRequest(request.method, url, under, request.body)
    theirs.context["timestamp"] = stamp
    signer = SigV4Auth(Credentials(key, "SECRET/WITH+SIGNS", "TOKEN-1234"), service, region)
    text = signer.string_to_sign(theirs, signer.canonical_request(theirs))
    return "" if signer.signature(text, theirs) == signature else "signature"


def bedrock(*scripts: Script) -> Callable[[Request], Script]:
    """Plays the scripts to those who sign well, and the refusal of AWS to all others."""
    left = list(scripts)

    def answer(request: Request) -> Script:
        why = refuses(request)
        if why:
            name = {"x-amzn-errortype": "InvalidSignatureException:http://x/"}
            return json_reply({"message": why}, 403, name)
        return left.pop(0)

    return answer


def error(name: str, status: int, message: str) -> Script:
    return json_reply({"message": message}, status, {"x-amzn-errortype": f"{name}:http://x/"})


@pytest.fixture
def serve(start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream) -> Any:
    async def begin(*scripts: Script, twice: bool = False) -> Caller:
        upstream._answer = bedrock(*scripts)
        more = SECOND.format(second=second.base_url) if twice else ""
        routes = ', { provider = "second", priority = 2 }' if twice else ""
        return await start(CONFIG.format(upstream=upstream.base_url, more=more, routes=routes))

    return begin


async def test_a_plain_request_is_signed_and_its_answer_billed(
    serve: Any, upstream: ScriptedUpstream
) -> None:
    caller = await serve(json_reply(reply()))
    answer = await caller.chat(max_completion_tokens=50, user="u")
    assert answer.status == 200, answer.body
    assert answer.json["choices"][0]["message"]["content"] == "Hello there"
    assert answer.json["model"] == "test-model"
    assert answer.json["usage"]["prompt_tokens"] == 980
    sent = upstream.requests[0]
    assert sent.path == "/model/eu.lab.model-v1%3A0/converse"
    assert sent.json == {
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "inferenceConfig": {"maxTokens": 50},
    }
    row = await caller.logged(answer)
    # 100 at 1.00, 880 at 0.10 and 20 at 5.00 USD per million
    assert row["cost_usd"] == "0.000288"


@pytest.mark.parametrize("slowly", [False, True])
async def test_a_stream_is_relayed_however_its_frames_are_cut(serve: Any, slowly: bool) -> None:
    script = event_stream_reply([*HELLO, *END])
    caller = await serve(byte_by_byte(script) if slowly else script)
    answer = await caller.chat(stream=True, stream_options={"include_usage": True})
    assert answer.status == 200
    assert answer.text == "Hello there"
    assert answer.events[-1] == "data: [DONE]"
    assert answer.chunks[-1]["usage"]["total_tokens"] == 1000
    assert (await caller.logged(answer))["cost_usd"] == "0.000288"


async def test_tools_are_called_and_answered(serve: Any, upstream: ScriptedUpstream) -> None:
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "look"}}
    piece = {"toolUse": {"input": '{"a":1}'}}
    caller = await serve(
        event_stream_reply(
            [
                event_stream_event("contentBlockStart", {"contentBlockIndex": 0, "start": call}),
                event_stream_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": piece}),
                event_stream_event("contentBlockStop", {"contentBlockIndex": 0}),
                event_stream_event("messageStop", {"stopReason": "tool_use"}),
            ]
        ),
        json_reply(reply()),
    )
    tools = [{"type": "function", "function": {"name": "look"}}]
    answer = await caller.chat(stream=True, tools=tools)
    deltas = [chunk["choices"][0]["delta"] for chunk in answer.chunks]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert (calls[0]["id"], calls[0]["function"]["name"]) == ("tooluse_1", "look")
    assert "".join(call["function"]["arguments"] for call in calls) == '{"a":1}'
    history = [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "tooluse_1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"a":1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "tooluse_1", "content": "seen"},
    ]
    assert (await caller.chat(messages=history)).status == 200
    sent = upstream.requests[1].json
    assert sent["toolConfig"]["tools"][0]["toolSpec"]["name"] == "look"
    assert sent["messages"][2]["content"][0]["toolResult"]["toolUseId"] == "tooluse_1"


async def test_claude_is_asked_in_its_own_format_behind_an_arn(
    serve: Any, upstream: ScriptedUpstream
) -> None:
    caller = await serve(event_stream_reply(STREAM), json_reply(MESSAGE))
    answer = await caller.chat(
        model="claude-opus-5-5", reasoning_effort="low", temperature=0.5, stream=True
    )
    assert answer.status == 200, answer.body
    assert answer.text == "Hello there"
    assert answer.events[-1] == "data: [DONE]"
    assert answer.headers["x-zurelay-dropped-params"] == "temperature"
    sent = upstream.requests[0]
    assert sent.path.endswith("%3Ainference-profile%2Fx/invoke-with-response-stream")
    assert sent.json["output_config"] == {"effort": "low"}
    assert sent.json["anthropic_version"] == "bedrock-2023-05-31"
    answer = await caller.chat(model="claude-opus-5-5")
    message = answer.json["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Hello there", "hm")
    assert message["reasoning_details"][0]["signature"] == "SIG"
    assert upstream.requests[1].path.endswith("/invoke")


async def test_a_claude_by_another_name_is_asked_through_converse(
    serve: Any, upstream: ScriptedUpstream
) -> None:
    caller = await serve(json_reply(reply()))
    answer = await caller.chat(model="our-claude", reasoning_effort="low")
    assert answer.status == 200, answer.body
    sent = upstream.requests[0]
    assert sent.path == "/model/anthropic.claude-x/converse"
    assert sent.json["additionalModelRequestFields"]["output_config"] == {"effort": "low"}


async def test_throttling_moves_on_to_the_next_route(serve: Any, second: ScriptedUpstream) -> None:
    told = "Too many tokens, please wait before trying again."
    caller = await serve(error("ThrottlingException", 429, told), twice=True)
    second.enqueue(json_reply(chat_reply("from the second")))
    answer = await caller.chat()
    assert answer.json["choices"][0]["message"]["content"] == "from the second"
    attempts = (await caller.logged(answer))["attempts"]
    assert [attempt["status"] for attempt in attempts] == ["failed", "ok"]
    assert attempts[0]["reason"] == "rate_limited"


@pytest.mark.parametrize("before", [0, 1])
async def test_an_exception_before_the_first_token_moves_on_unseen(
    serve: Any, second: ScriptedUpstream, before: int
) -> None:
    broken = [*HELLO[:before], event_stream_exception("modelStreamErrorException", "m")]
    caller = await serve(event_stream_reply(broken), twice=True)
    second.enqueue(sse_reply(chat_chunks("from the second")))
    answer = await caller.chat(stream=True)
    assert answer.text == "from the second"
    assert (await caller.logged(answer))["attempts"][0]["reason"] == "bad_answer"


ENDINGS: Sequence[tuple[str, Script]] = [
    (
        "exception",
        event_stream_reply([*HELLO, event_stream_exception("internalServerException", "late")]),
    ),
    ("cut", cut(event_stream_reply([*HELLO, *END]), 600, Close())),
    ("no end", event_stream_reply(HELLO)),
    ("garbage", event_stream_reply([*HELLO, b"x" * 40])),
]


@pytest.mark.parametrize(("what", "script"), ENDINGS, ids=[what for what, _ in ENDINGS])
async def test_a_stream_that_fails_after_tokens_ends_with_an_error(
    serve: Any, what: str, script: Script
) -> None:
    caller = await serve(script)
    answer = await caller.chat(stream=True)
    assert answer.text.startswith("Hello")
    assert "[DONE]" not in answer.body.decode()
    assert json.loads(answer.events[-1].removeprefix("data: "))["error"]["type"] == "upstream_error"
    row = await caller.logged(answer)
    assert (row["status"], row["cost_estimated"]) == ("error", True)


async def test_the_requests_own_fault_is_told_once_and_an_overflow_by_its_name(
    serve: Any, upstream: ScriptedUpstream
) -> None:
    caller = await serve(
        error("ValidationException", 400, "The value at messages is wrong"),
        error("ValidationException", 400, "Input is too long for requested model."),
    )
    answer = await caller.chat()
    assert (answer.status, answer.json["error"]["message"]) == (
        400,
        "The value at messages is wrong",
    )
    answer = await caller.chat()
    assert answer.json["error"]["code"] == "context_length_exceeded"
    assert len(upstream.requests) == 2


async def test_no_secret_of_the_account_is_ever_told(serve: Any) -> None:
    told = "AKIDTEST may not; SECRET/WITH+SIGNS TOKEN-1234"
    caller = await serve(error("ValidationException", 400, told))
    answer = await caller.chat()
    assert answer.status == 400
    for secret in (b"AKIDTEST", b"SECRET/WITH", b"TOKEN-1234"):
        assert secret not in answer.body


async def test_a_bearer_key_is_sent_in_place_of_a_signature(
    start: Start, upstream: ScriptedUpstream
) -> None:
    config = CONFIG.format(upstream=upstream.base_url, more="", routes="")
    own = ('access_key_id = "AKIDTEST"', 'secret_access_key = "SECRET/WITH+SIGNS"')
    for line in (*own, 'session_token = "TOKEN-1234"'):
        config = config.replace(f"{line}\n", "")
    caller = await start(config.replace("region =", 'api_key = "KEY-1"\nregion ='))
    upstream.enqueue(json_reply(reply()))
    assert (await caller.chat()).status == 200
    headers = upstream.requests[0].headers
    assert headers["authorization"] == "Bearer KEY-1"
    assert "x-amz-date" not in headers


async def test_callers_of_messages_reach_claude_and_every_other_model(
    serve: Any, upstream: ScriptedUpstream
) -> None:
    caller = await serve(json_reply(MESSAGE), json_reply(reply()))
    asked = {
        "max_tokens": 2048,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "future": 1}]}],
    }
    headers = {
        **caller.gateway.headers,
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "claude-code-20250219,context-1m-2025-08-07",
    }

    async def ask(model: str) -> Any:
        body = json.dumps({"model": model, **asked}).encode()
        answer = await caller.send("POST", "/v1/messages", body, headers)
        assert answer.status == 200, answer.body
        return answer

    answer = await ask("claude-opus-5-5")
    assert answer.json["content"] == MESSAGE["content"]
    assert answer.headers["x-zurelay-dropped-params"] == "anthropic-beta"
    sent = upstream.requests[0].json
    assert sent["messages"] == asked["messages"]
    assert sent["anthropic_beta"] == ["context-1m-2025-08-07"]
    answer = await ask("test-model")
    assert answer.json["content"] == [{"type": "text", "text": "Hello there"}]
    assert answer.json["usage"]["cache_read_input_tokens"] == 880
    assert upstream.requests[1].json["messages"][0]["content"] == [{"text": "Hi"}]
