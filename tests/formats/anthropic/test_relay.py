"""Streams and plain answers that stay in this format."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.anthropic import made
from tests.formats.anthropic.test_events import PLAIN
from tests.formats.anthropic.test_writer import message
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.anthropic.exchange import MessagesToMessages
from zurelay.formats.anthropic.relay import Assembler, RelayStream, whole

JOIN = MessagesToMessages()


def relayed(*pieces: bytes) -> tuple[bytes, RelayStream, Fault | None]:
    stream = RelayStream(made.context())
    out = b""
    for piece in pieces:
        progress = stream.feed(piece)
        out += progress.out
        if progress.fault:
            return out, stream, progress.fault
    progress = stream.end()
    out += progress.out
    if progress.fault is None:
        out += stream.finale(stream.usage or Usage(), b": told\n\n")
    return out, stream, progress.fault


WHOLE = relayed(made.RICH)[0]


def test_a_stream_with_everything() -> None:
    out, stream, fault = relayed(made.RICH)
    assert fault is None
    found = message(out)
    assert (found["id"], found["model"]) == ("msg_1", "public-model")
    assert found["content"] == PLAIN["content"]
    assert found["stop_reason"] == "tool_use"
    assert b"upstream" not in out
    assert b"ping" not in out
    assert out.endswith(b'\n\n: told\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n')
    assert stream.usage == Usage(input=4, cached_input=2455, output=23)
    assert stream.finish_reason == "tool_calls"
    assert stream.delivered_length == len("let me see") + len("北京 😀é".encode()) + len('{"x": 1}')


def test_events_between_keep_their_bytes() -> None:
    citation = {"type": "citations_delta", "citation": {"url": "u", "n": 1.0}}
    odd = made.block(1, {"type": "web_search_tool_result", "content": [{"x": 1.50}]}, citation)
    new = made.event("something_new", a=[1, 2])
    out, _, _ = relayed(made.start() + made.text(0, "a") + odd + new + made.stop())
    assert odd in out
    assert new in out


@given(st.lists(st.integers(0, len(made.RICH)), max_size=8))
def test_any_cutting_gives_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(made.RICH)]
    assert relayed(*(made.RICH[a:b] for a, b in pairwise(places)))[0] == WHOLE


def test_event_by_event_and_byte_by_byte_give_the_same() -> None:
    frames = [frame + b"\n\n" for frame in made.RICH.split(b"\n\n")[:-1]]
    out, stream, _ = relayed(*frames)
    assert out == WHOLE
    slow_out, slow, _ = relayed(*(bytes([b]) for b in made.RICH))
    assert slow_out == WHOLE
    assert slow.delivered_length == stream.delivered_length


def test_what_each_event_means_to_the_relay() -> None:
    stream = RelayStream(made.context())
    start = stream.feed(made.start())
    assert (start.token, start.alive) == (False, True)
    block = {"type": "thinking", "thinking": "", "signature": ""}
    begun = stream.feed(made.event("content_block_start", index=0, content_block=block))
    assert (begun.token, begun.started) == (False, True)
    assert not stream.feed(made.event("ping")).token
    delta = {"type": "thinking_delta", "thinking": "a"}
    assert stream.feed(made.event("content_block_delta", index=0, delta=delta)).token
    signed = {"type": "signature_delta", "signature": "S"}
    assert not stream.feed(made.event("content_block_delta", index=0, delta=signed)).token
    end = made.stop().split(b"\n\n")
    assert stream.feed(end[0] + b"\n\n").finished
    assert stream.feed(end[1] + b"\n\n").ended


def test_frames_without_a_name_get_one() -> None:
    nameless = b"".join(
        line + b"\n\n" for line in made.RICH.split(b"\n") if line.startswith(b"data: ")
    )
    assert message(relayed(nameless)[0])["content"] == PLAIN["content"]


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        (b"", FaultKind.BROKE_OFF),
        (made.start() + made.text(0, "a"), FaultKind.BROKE_OFF),
        (made.start() + made.stop(), FaultKind.EMPTY),
        (made.start() + made.text(0, "") + made.stop(), FaultKind.EMPTY),
        (
            made.event("error", error={"type": "overloaded_error", "message": "m"}),
            FaultKind.OVERLOADED,
        ),
        (b"data: {broken\n\n", FaultKind.BAD_ANSWER),
    ],
)
def test_faults(stream: bytes, kind: FaultKind) -> None:
    fault = relayed(stream)[2]
    assert fault is not None
    assert fault.kind is kind


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "stop_sequence", "pause_turn"])
def test_an_end_that_explains_itself_is_an_answer(reason: str) -> None:
    out, _, fault = relayed(made.start() + made.stop(reason))
    assert fault is None
    assert message(out)["stop_reason"] == reason


def test_a_stop_reason_makes_it_whole_even_without_the_end_mark() -> None:
    stream = made.start() + made.text(0, "a") + made.stop()
    out, _, fault = relayed(stream[: stream.index(b"event: message_stop")])
    assert fault is None
    assert message(out)["stop_reason"] == "end_turn"


def test_an_assembled_answer_is_the_plain_one() -> None:
    assembler = Assembler(made.context())
    citation = {"url": "u"}
    cited = made.block(
        4,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "x"},
        {"type": "citations_delta", "citation": citation},
    )
    rich = made.RICH.replace(b"event: message_delta", cited + b"event: message_delta")
    assert assembler.feed(rich).out == b""
    assert assembler.end().fault is None
    assert assembler.finale(Usage(), b"") == b""
    answer = assembler.whole()
    body = json.loads(answer.body)
    cited_block = {"type": "text", "text": "x", "citations": [citation]}
    assert body["content"] == [*PLAIN["content"], cited_block]
    assert (body["id"], body["model"], body["stop_reason"]) == ("msg_1", "public-model", "tool_use")
    assert body["usage"]["output_tokens"] == 23
    assert answer.usage == Usage(input=4, cached_input=2455, output=23)
    assert answer.called
    broken = Assembler(made.context())
    broken.feed(made.start())
    broken.end()
    assert broken.whole().fault is not None


def test_a_plain_answer_keeps_what_it_does_not_own() -> None:
    body = {**PLAIN, "container": {"id": "c"}, "new": 1.5}
    answer = whole(json.dumps(body).encode(), made.context())
    assert json.loads(answer.body) == {**body, "id": "msg_1", "model": "public-model"}
    assert answer.usage == Usage(input=4, cached_input=2455, output=23)
    assert answer.finish_reason == "tool_calls"
    assert answer.called
    assert answer.delivered_length > 0


def test_a_count_that_is_not_believed_gives_way_in_the_answer() -> None:
    billed = Usage(input=4, output=2, estimated=True)
    assembler = Assembler(made.context())
    assembler.feed(made.RICH)
    assembler.end()
    plain = whole(json.dumps(PLAIN).encode(), made.context(), billed)
    for answer in (plain, assembler.whole(billed)):
        told = json.loads(answer.body)["usage"]
        assert (told["input_tokens"], told["output_tokens"]) == (4, 2)
        assert "cache_creation" not in told
        assert answer.usage == billed


def test_a_plain_answer_without_a_count_is_estimated() -> None:
    body: dict[str, Any] = {
        "content": [{"type": "text", "text": "a" * 40}],
        "stop_reason": "end_turn",
    }
    answer = whole(json.dumps(body).encode(), made.context())
    assert answer.usage == Usage(input=10, output=10, estimated=True)
    assert json.loads(answer.body)["usage"]["output_tokens"] == 10
    assert not answer.called


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"nonsense", FaultKind.BAD_ANSWER),
        (b"{}", FaultKind.BAD_ANSWER),
        (b'{"type":"error","error":{"type":"overloaded_error"}}', FaultKind.OVERLOADED),
        (b'{"content":[],"stop_reason":"end_turn"}', FaultKind.EMPTY),
    ],
)
def test_what_is_no_answer(body: bytes, kind: FaultKind) -> None:
    fault = whole(body, made.context()).fault
    assert fault is not None
    assert fault.kind is kind
