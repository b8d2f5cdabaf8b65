"""Neutral events as a Messages stream: blocks in order, one open at a time."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.formats.anthropic.made import ORIGIN, context, events
from zurelay.chat.events import (
    Event,
    FinishReason,
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.usage import Usage
from zurelay.formats.anthropic.envelope import unseal, unsigned
from zurelay.formats.anthropic.hub import MessagesHubFront
from zurelay.formats.anthropic.writer import MessageWriter
from zurelay.formats.fold import EventFold

USED = Usage(input=1000, cached_input=4000, output=40)


def written(*told: Event, usage: Usage = USED, reason: FinishReason = "stop") -> bytes:
    writer = MessageWriter(context())
    out = b"".join(writer.write([event]) for event in (*told, Stopped(reason)))
    return out + writer.finale(usage, b": told\n\n")


def message(stream: bytes) -> dict[str, Any]:
    """The message that a strict client makes of a stream."""
    found: dict[str, Any] = {}
    open_block: int | None = None
    partial = ""
    over = False
    for kind, event in events(stream):
        assert not over
        if kind == "message_start":
            assert not found
            found = {**event["message"], "content": []}
        elif kind == "content_block_start":
            assert open_block is None
            assert event["index"] == len(found["content"])
            open_block, partial = event["index"], ""
            found["content"].append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            assert event["index"] == open_block
            block, delta = found["content"][-1], event["delta"]
            if delta["type"] == "input_json_delta":
                assert block["type"] == "tool_use"
                partial += delta["partial_json"]
            else:
                name = delta["type"].removesuffix("_delta")
                assert block["type"] == ("thinking" if name == "signature" else name)
                block[name] += delta[name]
        elif kind == "content_block_stop":
            assert event["index"] == open_block
            open_block = None
            if partial:
                found["content"][-1]["input"] = json.loads(partial)
        elif kind == "message_delta":
            assert open_block is None
            found |= event["delta"]
            found["usage"] |= event["usage"]
        elif kind == "message_stop":
            over = True
    assert over
    return found


def test_a_text() -> None:
    stream = written(TextDelta("Hel"), TextDelta("lo"))
    found = message(stream)
    assert found["content"] == [{"type": "text", "text": "Hello"}]
    assert (found["id"], found["model"], found["role"]) == ("msg_1", "public-model", "assistant")
    assert (found["stop_reason"], found["stop_sequence"]) == ("end_turn", None)
    assert found["usage"]["input_tokens"] == 1000
    assert found["usage"]["cache_read_input_tokens"] == 4000
    assert found["usage"]["output_tokens"] == 40


def test_the_start_has_the_usage_that_is_known() -> None:
    kind, start = events(written(TextDelta("a")))[0]
    assert kind == "message_start"
    assert start["message"]["usage"]["input_tokens"] == 10  # the estimate
    assert start["message"]["content"] == []
    assert start["message"]["stop_reason"] is None
    counted = written(UsageSeen(Usage(input=77)), TextDelta("a"))
    assert events(counted)[0][1]["message"]["usage"]["input_tokens"] == 77


def test_the_comment_stands_before_the_last_event() -> None:
    assert b"\n\n: told\n\nevent: message_stop\n" in written(TextDelta("a"))


def test_blocks_change_with_what_is_said() -> None:
    found = message(
        written(
            ThinkingStarted(),
            ThinkingDelta("a"),
            TextDelta("b"),
            ThinkingDelta("c"),
            ThinkingSigned("SIG", ORIGIN),
            ThinkingSigned("D", ORIGIN, redacted=True),
            TextDelta("d"),
        )
    )
    assert found["content"] == [
        {"type": "thinking", "thinking": "a", "signature": unsigned("anthropic")},
        {"type": "text", "text": "b"},
        {"type": "thinking", "thinking": "c", "signature": "SIG"},
        {"type": "redacted_thinking", "data": "D"},
        {"type": "text", "text": "d"},
    ]


def test_hidden_thinking_of_another_vendor_comes_back_as_it_was() -> None:
    proof = ThinkingSigned("ENC", "openai/responses", redacted=True)
    block = message(written(ThinkingDelta("sum"), proof, TextDelta("a")))["content"][0]
    assert block["thinking"] == "sum"
    last = unseal(block["thinking"], block["signature"])[-1]
    assert (last.signature, last.origin, last.redacted) == ("ENC", "openai/responses", True)


GOOGLES = ThinkingSigned("G", "google-ai-studio/gemini", redacted=True)


def test_an_answer_ends_with_its_text_whatever_proof_comes_after_it() -> None:
    found = message(written(ThinkingDelta("Hm"), TextDelta("The end."), GOOGLES))
    assert [block["type"] for block in found["content"]] == ["thinking", "text"]
    assert found["content"][-1]["text"] == "The end."


def test_a_proof_after_a_text_keeps_its_place_where_more_follows() -> None:
    bound = ThinkingSigned("B", "google-ai-studio/gemini", redacted=True, call_id="A")
    calls = (ToolCallStarted(0, "A", "f"), ToolCallDelta(0, "{}"))
    found = message(written(TextDelta("I look."), GOOGLES, bound, *calls, reason="tool_calls"))
    kinds = [block["type"] for block in found["content"]]
    assert kinds == ["text", "thinking", "thinking", "tool_use"]
    proofs = [unseal("", block["signature"])[0] for block in found["content"][1:3]]
    assert [(proof.signature, proof.call_id) for proof in proofs] == [("G", None), ("B", "A")]
    for follows in (TextDelta("more"), ThinkingDelta("more")):
        found = message(written(TextDelta("I say"), GOOGLES, follows, TextDelta("end")))
        assert unseal("", found["content"][1]["signature"])[0].signature == "G"


def test_a_call_and_nothing_else() -> None:
    found = message(
        written(
            ToolCallStarted(0, "c", "Write"),
            ToolCallDelta(0, '{"a":'),
            ToolCallDelta(0, "1}"),
            reason="tool_calls",
        )
    )
    assert found["content"] == [{"type": "tool_use", "id": "c", "name": "Write", "input": {"a": 1}}]
    assert found["stop_reason"] == "tool_use"


def test_interleaved_calls_come_one_after_another() -> None:
    found = message(
        written(
            TextDelta("a"),
            ToolCallStarted(0, "A", "f"),
            ToolCallStarted(1, "B", "g"),
            ToolCallDelta(0, '{"x"'),
            ToolCallDelta(1, '{"y"'),
            ToolCallDelta(0, ":1}"),
            ToolCallDelta(1, ":2}"),
            TextDelta("b"),
            reason="tool_calls",
        )
    )
    assert found["content"] == [
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "A", "name": "f", "input": {"x": 1}},
        {"type": "tool_use", "id": "B", "name": "g", "input": {"y": 2}},
        {"type": "text", "text": "b"},
    ]


def test_a_call_that_is_whole_does_not_keep_the_next_one_waiting() -> None:
    writer = MessageWriter(context())
    writer.write([ToolCallStarted(0, "A", "f"), ToolCallDelta(0, '{"x":1}')])
    assert b'"g"' in writer.write([ToolCallStarted(1, "B", "g")])
    assert b'"partial_json":"{"' in writer.write([ToolCallDelta(1, "{")])


def test_text_between_pieces_of_a_call_waits_for_its_end() -> None:
    found = message(
        written(
            ToolCallStarted(0, "A", "f"),
            ToolCallDelta(0, '{"x"'),
            TextDelta("aside"),
            ToolCallDelta(0, ":1}"),
            reason="tool_calls",
        )
    )
    assert [block["type"] for block in found["content"]] == ["tool_use", "text"]


def test_ends() -> None:
    assert message(written(TextDelta("a"), reason="length"))["stop_reason"] == "max_tokens"
    assert message(written(reason="content_filter"))["stop_reason"] == "refusal"
    refused = message(written(RefusalDelta("no")))
    assert refused["stop_reason"] == "refusal"
    assert refused["content"] == [{"type": "text", "text": "no"}]
    writer = MessageWriter(context())
    out = writer.write([TextDelta("a"), Stopped("stop", 0, "END")]) + writer.finale(USED, b"")
    found = message(out)
    assert (found["stop_reason"], found["stop_sequence"]) == ("stop_sequence", "END")


def test_other_choices_have_no_place() -> None:
    stream = written(TextDelta("a"), TextDelta("b", choice=1))
    assert message(stream)["content"] == [{"type": "text", "text": "a"}]


_PIECES = st.lists(
    st.one_of(
        st.builds(TextDelta, st.text(min_size=1, max_size=3)),
        st.builds(ThinkingDelta, st.text(min_size=1, max_size=3)),
        st.just(ThinkingStarted()),
        st.sampled_from([("call", n) for n in range(3)]),
    ),
    max_size=12,
)


def _told(pieces: list[Any]) -> list[Event]:
    """Calls begin when they are first met, and get one piece of `{"n":[0,0,0]}` each time."""
    told: list[Event] = []
    begun: dict[int, int] = {}
    for piece in pieces:
        if not isinstance(piece, tuple):
            told.append(piece)
            continue
        number = piece[1]
        if number not in begun:
            begun[number] = len(begun)
            told.append(ToolCallStarted(begun[number], f"id{number}", f"f{number}"))
            told.append(ToolCallDelta(begun[number], '{"n":[0'))
        else:
            told.append(ToolCallDelta(begun[number], ",0"))
    told += [ToolCallDelta(index, "]}") for index in begun.values()]
    return told


@given(_PIECES)
def test_any_stream_is_well_formed_and_loses_nothing(pieces: list[Any]) -> None:
    told = _told(pieces)
    found = message(written(*told))
    fold = EventFold()
    for event in (*told, Stopped("stop")):
        fold.add(event)
    whole = json.loads(MessagesHubFront().reply(fold.reply(), USED, context()))

    def kinds(body: dict[str, Any]) -> Any:
        calls = [b for b in body["content"] if b["type"] == "tool_use"]
        texts = ["".join(b.get(k, "") for b in body["content"]) for k in ("text", "thinking")]
        return calls, texts

    assert kinds(found) == kinds(whole)
    if not any(isinstance(event, ToolCallStarted) for event in told):
        assert found == whole
