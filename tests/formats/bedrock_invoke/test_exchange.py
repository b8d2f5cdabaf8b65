"""Claude on Bedrock for callers of Chat Completions and of Messages."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.bedrock_invoke.invoking import PLAIN, STREAM
from tests.formats.converse.bedrock import CLAUDE, context
from zurelay.chat.faults import FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.base import Exchange, Target
from zurelay.formats.registry import exchange, front
from zurelay.testing.event_stream import event_stream_exception

TARGET = Target("public", "anthropic.claude-opus-5-5", CLAUDE, effort="low", stream=True)


def chat() -> Exchange:
    return exchange("openai_chat", "bedrock_invoke")


def sent(name: str, body: dict[str, Any]) -> Any:
    inbound = front(name).read(json.dumps(body).encode())
    return json.loads(exchange(name, "bedrock_invoke").write(inbound, TARGET).body)


def test_a_chat_request_becomes_claudes_own() -> None:
    body = sent("openai_chat", {"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "low"}
    assert body["messages"][0]["role"] == "user"
    assert "model" not in body
    assert "stream" not in body


def test_a_messages_request_passes_with_its_own_fields() -> None:
    asked = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "future": 1}]}],
        "speed": "fast",
    }
    body = sent("anthropic", asked)
    assert body["messages"] == asked["messages"]
    assert (body["max_tokens"], "speed" in body) == (9, False)


@given(st.lists(st.integers(0, sum(map(len, STREAM))), max_size=8))
def test_a_stream_reads_the_same_however_it_is_cut_and_like_the_plain_answer(
    cuts: list[int],
) -> None:
    raw = b"".join(STREAM)
    edges = [0, *sorted(cuts), len(raw)]
    stream, assembler = chat().stream(context()), chat().assembler(context())
    steps = [stream.feed(raw[a:b]) for a, b in pairwise(edges)]
    for a, b in pairwise(edges):
        assembler.feed(raw[a:b])
    assert b"".join(step.out for step in steps).count(b'"content":"') == 2
    assert not any(step.fault for step in [*steps, stream.end(), assembler.end()])
    assert any(step.ended for step in steps)
    assert (stream.usage, stream.finish_reason) == (Usage(10, 5, output=7), "stop")
    assert stream.delivered_length == 2 + 11
    assert b"[DONE]" in stream.finale(Usage(), b"")
    whole = chat().whole(json.dumps(PLAIN).encode(), context())
    assert json.loads(assembler.whole().body) == json.loads(whole.body)
    message = json.loads(whole.body)["choices"][0]["message"]
    assert message["reasoning_details"][0]["format"] == "anthropic/messages"


@pytest.mark.parametrize("sent", [0, 7])
def test_an_exception_is_a_fault(sent: int) -> None:
    stream = chat().stream(context())
    for piece in STREAM[:sent]:
        stream.feed(piece)
    fault = stream.feed(event_stream_exception("throttlingException", "slow")).fault
    assert fault is not None
    assert fault.kind is FaultKind.RATE_LIMITED


def test_an_exception_behind_a_complete_answer_changes_nothing() -> None:
    stream = chat().stream(context())
    for piece in STREAM[:-1]:
        stream.feed(piece)
    step = stream.feed(event_stream_exception("internalServerException", "late"))
    assert (step.fault, step.ended) == (None, True)


def test_a_stream_that_stops_early_broke_off() -> None:
    stream = chat().stream(context())
    for piece in STREAM[:7]:
        stream.feed(piece)
    fault = stream.end().fault
    assert fault is not None
    assert fault.kind is FaultKind.BROKE_OFF


def test_errors_have_their_names_in_a_header() -> None:
    headers = {"x-amzn-errortype": "ValidationException:x"}
    body = b'{"message": "prompt is too long: 9 tokens > 8 maximum"}'
    assert chat().fault(400, headers, body, 0.0, CLAUDE).kind is FaultKind.CONTEXT_OVERFLOW


def test_a_stream_passes_to_callers_of_messages_under_our_names() -> None:
    stream = exchange("anthropic", "bedrock_invoke").stream(context(answer_id="msg_ours"))
    out = b"".join(stream.feed(piece).out for piece in STREAM)
    assert stream.end().fault is None
    assert b'"id":"msg_ours"' in out
    assert b'"model":"public"' in out
    assert b'"signature":"SIG"' in out.replace(b'": "', b'":"')
    assert b"amazon-bedrock" not in out + stream.finale(stream.usage or Usage(), b"")
