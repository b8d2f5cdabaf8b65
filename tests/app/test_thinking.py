"""Thinking text through the whole gateway: to the caller, and back to who wants it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Caller
from tests.app.thinking import TOOLS, configuration, plain, thoughts
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream
from zurelay.upstream.client import HttpClient


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=plain) as server:
        yield server


@pytest.fixture
def config(upstream: ScriptedUpstream) -> str:
    return configuration(upstream)


R1: dict[str, dict[str, Any]] = {
    "reasoning_content": {"reasoning_content": "R1"},
    "reasoning": {"reasoning": "R1"},
    "reasoning_text": {"reasoning_text": "R1"},
    "details": {"reasoning_details": [{"type": "reasoning.text", "text": "R1"}]},
    "summary": {"reasoning_details": [{"type": "reasoning.summary", "summary": "R1"}]},
    "two copies": {"reasoning_content": "R1", "reasoning": "R1"},
    "three copies": {
        "reasoning": "R1",
        "reasoning_content": "R1",
        "reasoning_details": [{"type": "reasoning.text", "text": "R1"}],
    },
    "one empty": {"reasoning_content": "", "reasoning": "R1"},
}
CALL = {
    "index": 0,
    "id": "call_abc",
    "type": "function",
    "function": {"name": "f", "arguments": "{}"},
}
PLAIN_CALL = {name: value for name, value in CALL.items() if name != "index"}


@pytest.mark.parametrize("name", R1)
async def test_thinking_comes_once_under_one_name_plain(
    caller: Caller, upstream: ScriptedUpstream, name: str
) -> None:
    reply = chat_reply("Hi")
    reply["choices"][0]["message"] |= R1[name]
    upstream.enqueue(json_reply(reply))
    message = (await caller.chat(model="unknown")).json["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "Hi", "reasoning_content": "R1"}


@pytest.mark.parametrize("name", R1)
async def test_thinking_comes_once_under_one_name_streamed(
    caller: Caller, upstream: ScriptedUpstream, name: str
) -> None:
    empty = {field: "" for field in R1[name] if isinstance(R1[name][field], str)}
    events = [chat_chunk({"role": "assistant", "content": "", **empty}), chat_chunk(R1[name])]
    events += [chat_chunk({"content": "Hi", **empty}), chat_chunk({}, finish_reason="stop")]
    upstream.enqueue(sse_reply([*events, "[DONE]"]))
    answer = await caller.chat(model="unknown", stream=True)
    assert thoughts(answer) == ["R1"]
    assert answer.text == "Hi"
    for other in ("reasoning", "reasoning_text", "reasoning_details"):
        assert f'"{other}":' not in answer.body.decode()


@pytest.mark.parametrize("stream", [False, True])
async def test_tags_are_parted_only_where_the_profile_says_so(
    caller: Caller, upstream: ScriptedUpstream, stream: bool
) -> None:
    pieces = ["<thi", "nk>\nR", "1</th", "ink>\n\n", "Hi"]
    for model in ("tags", "unknown"):
        reply = json_reply(chat_reply("".join(pieces)))
        upstream.enqueue(sse_reply(chat_chunks(pieces)) if stream else reply)
        answer = await caller.chat(model=model, stream=stream)
        if stream:
            text, thinking = answer.text, "".join(thoughts(answer))
        else:
            message = answer.json["choices"][0]["message"]
            text, thinking = message["content"], message.get("reasoning_content", "")
        expected = ("Hi", "R1") if model == "tags" else ("".join(pieces), "")
        assert (text, thinking) == expected


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("finish", ["stop", "length"])
async def test_an_answer_of_thinking_alone_is_an_answer(
    caller: Caller, upstream: ScriptedUpstream, stream: bool, finish: str
) -> None:
    reply = chat_reply(None, finish_reason=finish)
    reply["choices"][0]["message"] |= {"reasoning": "R1"}
    events: list[Any] = [
        chat_chunk({"reasoning": "R1"}),
        chat_chunk({}, finish_reason=finish),
        "[DONE]",
    ]
    upstream.enqueue(sse_reply(events) if stream else json_reply(reply))
    answer = await caller.chat(model="unknown", stream=stream)
    assert answer.status == 200
    if stream:
        assert (thoughts(answer), answer.text) == (["R1"], "")
    else:
        choice = answer.json["choices"][0]
        assert (choice["message"]["reasoning_content"], choice["finish_reason"]) == ("R1", finish)
        assert not choice["message"]["content"]
    assert (await caller.logged(answer))["finish_reason"] == finish


def thinking_mode(field: str) -> Any:
    """DeepSeek's thinking mode, as decolua/9router #1189 met it."""

    def answer(request: Request) -> Script:
        body = request.json
        turns = [turn for turn in body["messages"] if turn["role"] == "assistant"]
        if not turns:
            events = [chat_chunk({field: "R"}), chat_chunk({field: "1"})]
            events += [chat_chunk({"tool_calls": [CALL]})]
            events += [chat_chunk({}, finish_reason="tool_calls")]
            return sse_reply([*events, "[DONE]"])
        if any(turn.get(field) not in ("R1", "") for turn in turns):
            told = "The reasoning_content in the thinking mode must be passed back to the API."
            return json_reply({"error": {"message": told}}, 400)
        return plain(request)

    return answer


@pytest.mark.parametrize(
    ("model", "field"), [("deepseek-flash", "reasoning_content"), ("local", "reasoning")]
)
async def test_thinking_is_carried_back_under_the_upstreams_own_name(
    tmp_path: Path, model: str, field: str
) -> None:
    async with (
        ScriptedUpstream(answer=thinking_mode(field)) as upstream,
        RunningGateway(tmp_path, configuration(upstream)) as gateway,
        HttpClient() as client,
    ):
        caller = Caller(gateway, client)
        first = await caller.chat(model=model, stream=True, tools=TOOLS)
        assert "".join(thoughts(first)) == "R1"
        assert first.chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
        history: list[dict[str, Any]] = [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "R1",
                "tool_calls": [PLAIN_CALL],
            },
            {"role": "tool", "tool_call_id": "call_abc", "content": "r"},
        ]
        second = await caller.chat(model=model, messages=history, tools=TOOLS)
        assert second.status == 200
        sent = upstream.requests[-1].json["messages"][1]
        assert sent[field] == "R1"
        assert {"reasoning", "reasoning_content"} & sent.keys() == {field}


async def test_lost_thinking_is_stood_in_for_where_the_upstream_insists(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [PLAIN_CALL]},
        {"role": "tool", "tool_call_id": "call_abc", "content": "r"},
    ]
    await caller.chat(model="deepseek-flash", messages=history, tools=TOOLS)
    assert upstream.requests[0].json["messages"][1]["reasoning_content"] == ""
    await caller.chat(model="two", messages=history, tools=TOOLS)
    assert "reasoning_content" not in upstream.requests[1].json["messages"][1]


async def test_thinking_of_one_vendor_is_never_shown_to_another(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    details = [{"type": "reasoning.encrypted", "data": "SECRET", "format": "xai-responses-v1"}]
    reply = chat_reply("Hi")
    reply["choices"][0]["message"] |= {"reasoning": "R1", "reasoning_details": details}
    upstream.enqueue(json_reply(reply))
    message = (await caller.chat(model="router")).json["choices"][0]["message"]
    history = [{"role": "user", "content": "q"}, message, {"role": "user", "content": "and?"}]
    await caller.chat(model="router", messages=history)
    assert upstream.requests[-1].json["messages"][1]["reasoning_details"] == details
    for other in ("deepseek-flash", "local", "two", "gpt-6-sol"):
        await caller.chat(model=other, messages=history)
        assert b"SECRET" not in upstream.requests[-1].body
        assert b"R1" not in upstream.requests[-1].body
