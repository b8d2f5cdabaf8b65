"""Answers that stay Responses: the same life cycle, with the caller's own facts."""

import json
from typing import Any

import pytest

from tests.formats.openai_responses.answered import LifeCycle, context, events
from zurelay.chat import problems
from zurelay.chat.events import (
    Event,
    FinishReason,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.chat.faults import FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.openai_responses.envelope import unseal
from zurelay.formats.openai_responses.relay import Assembler, RelayStream, whole
from zurelay.formats.openai_responses.writer import ResponseWriter

USED = Usage(input=10, output=7, reasoning=0, tier="standard")
COMMENT = b": told\n\n"


def upstream(*told: Event, finish: FinishReason = "stop", ends: bool = True) -> bytes:
    """A stream as OpenAI writes it: made by our own writer, then turned into theirs."""
    writer = ResponseWriter(context())
    stream = writer.write([*told, Stopped(finish)]) if ends else writer.write(told)
    stream += writer.finale(USED, b"") if ends else b""
    stream = stream.replace(b"public-model", b"up-model-2026").replace(b'"resp_1"', b'"resp_up"')
    out = b""
    for event in events(stream):
        item = event.get("item", {})
        items = [item, *event.get("response", {}).get("output", ())]
        for each in items:
            if each.get("encrypted_content"):
                each["encrypted_content"] = "ENC"
            if each.get("type") == "message":
                each["phase"] = "final_answer"
        out += b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n"
    return out


ANSWER = upstream(
    ThinkingDelta("Hm"),
    ThinkingSigned("ENC", "openai/responses", redacted=True),
    TextDelta("Hello"),
    ToolCallStarted(0, "call_1", "f"),
    ToolCallDelta(0, "{}"),
)


def told_in(stream: bytes) -> list[dict[str, Any]]:
    """The events of an upstream, whatever they are called."""
    lines = stream.split(b"\n")
    return [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]


def relayed(stream: RelayStream, data: bytes, size: int = 0) -> bytes:
    size = size or len(data)
    out = b"".join(stream.feed(data[i : i + size]).out for i in range(0, len(data), size))
    assert stream.end().fault is None
    return out + stream.finale(stream.usage or Usage(), COMMENT)


@pytest.mark.parametrize("size", [0, 1, 97])
def test_a_whole_answer_passes_with_our_ids_and_their_words(size: int) -> None:
    stream = RelayStream(context(metadata={"a": "b"}))
    out = relayed(stream, ANSWER, size)
    cycle = LifeCycle.of(out)
    response = cycle.response
    assert (response["id"], response["model"]) == ("resp_1", "public-model")
    assert response["metadata"] == {"a": "b"}
    assert b"up-model" not in out
    assert b"resp_up" not in out
    thought, said, call = response["output"]
    (shared, proof) = unseal("Hm", thought["encrypted_content"])
    assert (shared.text, proof.signature, proof.origin) == ("Hm", "ENC", "openai/responses")
    assert cycle.items[1]["phase"] == "final_answer"
    assert said["content"][0]["text"] == "Hello"
    assert call["call_id"] == "call_1"
    assert (stream.usage, stream.finish_reason) == (USED, "tool_calls")
    assert stream.delivered_length == len("HmHello{}")
    assert out.partition(COMMENT)[2].startswith(b"event: response.completed\n")


def test_unknown_fields_keep_their_bytes_and_unknown_events_go() -> None:
    stream = RelayStream(context())
    odd = b'{"type":"response.output_text.delta","output_index":0,"delta":"x","new":1.50}'
    out = stream.feed(b'data: {"type":"keepalive"}\n\ndata: ' + odd + b"\n\n").out
    assert b'"new":1.50' in out
    assert b"keepalive" not in out
    assert [event["type"] for event in events(out)][:2] == [
        "response.created",
        "response.in_progress",
    ]


def test_flags_say_what_came() -> None:
    stream = RelayStream(context())
    blocks = ANSWER.split(b"\n\n")
    begun = stream.feed(b"\n\n".join(blocks[:2]) + b"\n\n")
    assert (begun.alive, begun.token, begun.started) == (True, False, False)
    assert stream.feed(blocks[2] + b"\n\n").started
    rest = stream.feed(b"\n\n".join(blocks[3:]))
    assert (rest.token, rest.finished, rest.ended) == (True, True, True)


def test_what_was_streamed_fills_an_empty_last_output() -> None:
    last = ANSWER.rstrip(b"\n").rsplit(b"\n\n", 1)
    event = json.loads(last[1].partition(b"data: ")[2])
    event["response"]["output"] = []
    data = last[0] + b"\n\ndata: " + json.dumps(event).encode() + b"\n\n"
    cycle = LifeCycle.of(relayed(RelayStream(context()), data))
    assert len(cycle.response["output"]) == 3
    assembler = Assembler(context())
    assembler.feed(data)
    assembler.end()
    assert len(json.loads(assembler.whole().body)["output"]) == 3


def test_a_cut_answer_stays_incomplete() -> None:
    cycle = LifeCycle.of(
        relayed(RelayStream(context()), upstream(TextDelta("He"), finish="length"))
    )
    assert cycle.ended == "incomplete"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (upstream(TextDelta("He"), ends=False), FaultKind.BROKE_OFF),
        (b"", FaultKind.EMPTY),
        (upstream(), FaultKind.EMPTY),
        (b"data: {nonsense\n\n", FaultKind.BAD_ANSWER),
    ],
)
def test_an_answer_that_is_none_is_a_fault(data: bytes, kind: FaultKind) -> None:
    stream = RelayStream(context())
    fault = stream.feed(data).fault or stream.end().fault
    assert fault is not None
    assert fault.kind is kind


def test_a_failure_goes_on_from_what_was_relayed() -> None:
    stream = RelayStream(context())
    out = stream.feed(upstream(TextDelta("He"), ends=False)).out
    failed = b'data: {"type":"response.failed","response":{"error":{"code":"server_error"}}}\n\n'
    assert stream.feed(failed).fault is not None
    cycle = LifeCycle.of(out + stream.failure(problems.internal()))
    assert cycle.ended == "failed"
    never = LifeCycle.of(RelayStream(context()).failure(problems.internal()))
    assert never.ended == "failed"


def test_a_plain_answer_and_an_assembled_one_are_the_same() -> None:
    last = json.loads(ANSWER.rstrip(b"\n").rsplit(b"data: ", 1)[1])["response"]
    assembler = Assembler(context())
    assembler.feed(ANSWER)
    assert assembler.end().fault is None
    one, two = whole(json.dumps(last).encode(), context()), assembler.whole()
    assert json.loads(one.body) == json.loads(two.body)
    assert (one.usage, one.finish_reason) == (USED, "tool_calls")
    assert json.loads(one.body)["model"] == "public-model"


def test_a_count_that_is_not_believed_gives_way_in_the_answer() -> None:
    billed = Usage(input=10, output=2, estimated=True)
    last = json.loads(ANSWER.rstrip(b"\n").rsplit(b"data: ", 1)[1])["response"]
    assembler, stream = Assembler(context()), RelayStream(context())
    for each in (assembler, stream):
        each.feed(ANSWER)
        assert each.end().fault is None
    streamed = told_in(stream.finale(billed, COMMENT))[-1]["response"]
    plain = whole(json.dumps(last).encode(), context(), billed)
    assembled = assembler.whole(billed)
    for told in (json.loads(plain.body), json.loads(assembled.body), streamed):
        assert (told["usage"]["input_tokens"], told["usage"]["output_tokens"]) == (10, 2)
    assert plain.usage == assembled.usage == billed


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>", FaultKind.BAD_ANSWER),
        (b'{"status":"completed","output":[]}', FaultKind.EMPTY),
        (b'{"status":"failed","error":{"code":"server_error","message":"x"}}', None),
        (b'{"status":"queued"}', FaultKind.BAD_ANSWER),
    ],
)
def test_a_plain_answer_that_is_none_is_a_fault(body: bytes, kind: FaultKind | None) -> None:
    fault = whole(body, context()).fault
    assert fault is not None
    assert kind is None or fault.kind is kind


def test_a_plain_answer_may_be_laid_out_in_lines_and_be_long() -> None:
    response = told_in(ANSWER)[-1]["response"]
    plain = whole(json.dumps(response).encode(), context())
    assert plain.fault is None
    for body in (
        json.dumps(response, indent=2).encode(),
        json.dumps(response, indent=2).replace("\n", "\r\n").encode(),
    ):
        told = whole(body, context())
        assert told.fault is None
        assert json.loads(told.body) == json.loads(plain.body)
    response["output"][1]["content"][0]["text"] = "x" * (9 * 2**20)
    told = whole(json.dumps(response).encode(), context())
    assert told.fault is None
    assert len(told.body) > 9 * 2**20


def test_an_event_in_several_lines_goes_out_in_one() -> None:
    spread = b"".join(
        b"".join(b"data: %s\n" % line for line in json.dumps(event, indent=1).encode().split(b"\n"))
        + b"\n"
        for event in told_in(ANSWER)
    )
    together = relayed(RelayStream(context()), ANSWER)
    out = relayed(RelayStream(context()), spread)
    assert out.count(b"\n") == together.count(b"\n")
    assert events(out) == events(together)


def test_an_assembler_has_nothing_to_send_before_its_whole_answer() -> None:
    assembler = Assembler(context())
    for byte in ANSWER:
        assert assembler.feed(bytes([byte])).out == b""
    assert assembler.end().out == b""
    assert assembler.whole().fault is None


def test_usage_that_never_came_is_estimated() -> None:
    body = {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}],
    }
    answer = whole(json.dumps(body).encode(), context())
    assert answer.usage is not None
    assert answer.usage.estimated
    assert json.loads(answer.body)["usage"]["input_tokens"] == 10


def test_calls_with_one_id_get_their_own_and_keep_it() -> None:
    data = upstream(
        ToolCallStarted(0, "call_0", "f"),
        ToolCallDelta(0, "{}"),
        ToolCallStarted(1, "call_0", "f"),
        ToolCallDelta(1, "{}"),
    )
    stream = RelayStream(context())
    cycle = LifeCycle.of(relayed(stream, data))
    first, second = (item["call_id"] for item in cycle.response["output"])
    assert first == "call_0"
    assert second.startswith("call_")
    assert second != first
