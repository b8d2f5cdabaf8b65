"""Chat Completions callers served by Claude: the whole way."""

import json
from typing import Any

from tests.formats.anthropic import made
from tests.formats.anthropic.test_events import PLAIN
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.registry import exchange, front

HI = {"role": "user", "content": "Hi"}
JOIN = exchange("openai_chat", "anthropic")


def chunks(stream: bytes) -> list[Any]:
    return [json.loads(e[6:]) for e in stream.decode().split("\n\n") if e.startswith("data: {")]


def test_a_stream_for_a_chat_client() -> None:
    stream = JOIN.stream(made.context())
    progress = stream.feed(made.RICH)
    found = chunks(progress.out)
    deltas = [chunk["choices"][0]["delta"] for chunk in found]
    assert deltas[0]["role"] == "assistant"
    assert "".join(d.get("reasoning_content", "") for d in deltas) == "let me see"
    assert "".join(d.get("content") or "" for d in deltas) == "北京 😀é"
    pieces: dict[int, str] = {}
    for delta in deltas:
        for call in delta.get("tool_calls", ()):
            pieces[call["index"]] = pieces.get(call["index"], "") + call["function"]["arguments"]
    assert pieces == {0: '{"x": 1}', 1: "{}"}
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert stream.usage == Usage(input=4, cached_input=2455, output=23)
    assert progress.finished
    assert progress.ended


def test_a_plain_answer_for_a_chat_client() -> None:
    answer = JOIN.whole(json.dumps(PLAIN).encode(), made.context())
    body = json.loads(answer.body)
    message = body["choices"][0]["message"]
    assert message["content"] == "北京 😀é"
    assert message["reasoning_content"] == "let me see"
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["f", "g"]
    assert body["usage"]["prompt_tokens"] == 2459
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 2455
    assert body["usage"]["completion_tokens"] == 23


def test_thinking_comes_back_to_claude_as_it_was() -> None:
    answer = JOIN.whole(json.dumps(PLAIN).encode(), made.context())
    message = json.loads(answer.body)["choices"][0]["message"]
    body, _ = made.written(
        messages=[
            {"role": "user", "content": "q"},
            message,
            {"role": "tool", "tool_call_id": "toolu_1", "content": "r"},
            {"role": "tool", "tool_call_id": "toolu_2", "content": "s"},
        ]
    )
    assert body["messages"][1]["content"] == PLAIN["content"]


def test_code_fences_are_taken_off_json_and_other_words_are_a_fault() -> None:
    context = made.context(json_text=True)
    said = {**PLAIN, "stop_reason": "end_turn"}
    fenced = {**said, "content": [{"type": "text", "text": '```json\n{"a": 1}\n```'}]}
    answer = JOIN.whole(json.dumps(fenced).encode(), context)
    assert json.loads(answer.body)["choices"][0]["message"]["content"].strip() == '{"a": 1}'
    words = {**said, "content": [{"type": "text", "text": "Sure! Here it is"}]}
    fault = JOIN.whole(json.dumps(words).encode(), context).fault
    assert fault is not None
    assert fault.kind is FaultKind.BAD_ANSWER
    stream = JOIN.stream(context)
    out = stream.feed(
        made.start() + made.text(0, "``", "`json\n{", '"a": 1}', "\n``", "`") + made.stop()
    ).out
    text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks(out))
    assert text.strip() == '{"a": 1}'


def test_an_answer_with_nothing_is_empty() -> None:
    fault = JOIN.whole(
        json.dumps({**PLAIN, "content": [], "stop_reason": "end_turn"}).encode(), made.context()
    ).fault
    assert fault is not None
    assert fault.kind is FaultKind.EMPTY
    assert JOIN.stream(made.context()).feed(made.start() + made.stop()).fault is not None


def test_errors_are_read() -> None:
    body = b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    assert JOIN.fault(529, {}, body, 0.0, Profile()).kind is FaultKind.OVERLOADED


def test_the_front_of_chat_reads_breakpoints() -> None:
    part = {"type": "text", "text": "long", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    body, _ = made.written(messages=[{"role": "user", "content": [part]}])
    assert body["messages"][0]["content"] == [part]
    assert front("openai_chat").name == "openai_chat"


TWO = (
    made.start()
    + made.thinking(0, "first")
    + made.thinking(1, signature="HIDDEN")
    + made.thinking(2, "second", signature="SIG2")
    + made.text(3, "a")
    + made.stop()
)


def test_every_proof_keeps_its_own_text_on_the_way_through_a_chat_client() -> None:
    stream, assembler = JOIN.stream(made.context()), JOIN.assembler(made.context())
    message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": ""}
    for chunk in chunks(stream.feed(TWO).out):
        delta = chunk["choices"][0]["delta"]
        for name in ("content", "reasoning_content"):
            message[name] += delta.get(name) or ""
        message.setdefault("reasoning_details", []).extend(delta.get("reasoning_details", ()))
    assembler.feed(TWO)
    assembler.end()
    plain = json.loads(assembler.whole().body)["choices"][0]["message"]
    for said in (message, plain):
        body, _ = made.written(messages=[HI, said, HI])
        thoughts = [b for b in body["messages"][1]["content"] if b["type"] == "thinking"]
        assert [(b["thinking"], b["signature"]) for b in thoughts] == [
            ("first", "SIG"),
            ("", "HIDDEN"),
            ("second", "SIG2"),
        ]
