"""Plain answers: read whole or put together from a stream, the same either way."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.openai_chat.streams import DONE, chunk, context, event
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, WholeAnswer
from zurelay.formats.openai_chat.reply import Assembler, whole

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


def answer(message: Any, finish: Any = "stop", **more: Any) -> bytes:
    body = {
        "id": "theirs",
        "object": "chat.completion",
        "created": 1,
        "model": "secret-upstream",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **more,
    }
    return json.dumps(body).encode()


def read(body: bytes, **changes: Any) -> WholeAnswer:
    return whole(body, context(**changes))


def told(got: WholeAnswer) -> Any:
    assert got.fault is None
    return json.loads(got.body)


def assemble(pieces: list[bytes], ctx: AnswerContext | None = None) -> WholeAnswer:
    assembler = Assembler(ctx or context())
    for piece in pieces:
        assert assembler.feed(piece).out == b""
    assembler.end()
    return assembler.whole()


def test_a_count_that_is_not_believed_gives_way_in_the_answer() -> None:
    billed = Usage(input=5, output=2, estimated=True)
    counted = {"prompt_tokens": 5, "completion_tokens": 10**6, "total_tokens": 10**6 + 5}
    body = answer({"role": "assistant", "content": "Hi"}, usage=counted)
    assembler = Assembler(context())
    event = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    assembler.feed(
        b"data: " + json.dumps({"choices": [event], "usage": counted}).encode() + b"\n\n"
    )
    assembler.end()
    for got in (whole(body, context(), billed), assembler.whole(billed)):
        assert told(got)["usage"]["completion_tokens"] == 2
        assert got.usage == billed


def test_an_answer_comes_under_our_id_and_model_with_our_usage() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cost": 0.1}
    got = read(
        b" \n\n "
        + answer(
            {"role": "assistant", "content": "Hi"},
            usage=usage,
            system_fingerprint="f",
            provider="secret",
        )
    )
    assert told(got) == {
        "id": "chatcmpl-ours",
        "object": "chat.completion",
        "created": 5,
        "model": "public",
        "system_fingerprint": "f",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
        ],
        "usage": {
            "prompt_tokens": 5,
            "completion_tokens": 2,
            "total_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    }
    assert (got.usage, got.finish_reason, got.delivered_length) == (Usage(5, output=2), "stop", 2)
    assert b"secret" not in got.body


def test_usage_is_estimated_where_there_is_none_and_given_where_it_is_settled() -> None:
    got = read(answer({"content": "x" * 40}))
    assert got.usage == Usage(input=10, output=10, estimated=True)
    assert told(got)["usage"]["total_tokens"] == 20
    settled = whole(answer({"content": "x"}), context(), Usage(input=1, output=1))
    assert told(settled)["usage"]["total_tokens"] == 2


def test_thinking_calls_and_reasons_are_normalised() -> None:
    calls = [{"id": "", "function": {"name": "f", "arguments": {"a": 1}}}, {**CALL, "index": 1}]
    got = told(read(answer({"content": "", "reasoning": "hm", "tool_calls": calls}, "stop")))
    (choice,) = got["choices"]
    assert choice["finish_reason"] == "tool_calls"
    message = choice["message"]
    assert message["content"] is None
    assert message["reasoning_content"] == "hm"
    assert "reasoning" not in message
    assert message["tool_calls"][1] == CALL
    assert message["tool_calls"][0]["id"].startswith("call_")
    assert message["tool_calls"][0]["function"] == CALL["function"]
    listed = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "T"}]},
        {"type": "text", "text": "A"},
    ]
    message = told(read(answer({"content": listed})))["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("A", "T")
    tagged = read(answer({"content": "<think>T</think>\n\nA"}), profile=Profile(think_tags=True))
    message = told(tagged)["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("A", "T")


def test_a_plain_answer_is_cut_at_stop_sequences() -> None:
    got = read(answer({"content": "one END two"}, "length"), stop=("END",))
    assert told(got)["choices"][0] == {
        "index": 0,
        "message": {"role": "assistant", "content": "one "},
        "finish_reason": "stop",
    }


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", FaultKind.BAD_ANSWER),
        (b"<html>", FaultKind.BAD_ANSWER),
        (b"[]", FaultKind.BAD_ANSWER),
        (b"{}", FaultKind.BAD_ANSWER),
        (b'{"choices":[]}', FaultKind.EMPTY),
        (answer({"content": ""}), FaultKind.EMPTY),
        (answer({"content": None}, None), FaultKind.EMPTY),
        (answer(None), FaultKind.EMPTY),
        (b'{"error":{"message":"x","code":503}}', FaultKind.OVERLOADED),
        (b'{"error":"x"}', FaultKind.BAD_ANSWER),
        (b'{"object":"error","message":"x"}', FaultKind.BAD_ANSWER),
        (answer({"content": "x"}, "error"), FaultKind.BAD_ANSWER),
    ],
)
def test_what_is_no_answer_is_a_fault(body: bytes, kind: FaultKind) -> None:
    got = read(body)
    assert got.fault is not None
    assert got.fault.kind is kind
    assert got.body == b""


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_nothing_with_a_reason_is_an_answer(finish: str) -> None:
    assert told(read(answer({"content": ""}, finish)))["choices"][0]["finish_reason"] == finish
    assert read(answer({"content": ""}), may_be_empty=True).fault is None


def test_a_stream_is_put_together() -> None:
    got = assemble(
        [
            chunk({"role": "assistant", "content": ""}, system_fingerprint="f"),
            chunk({"reasoning": "h"}),
            chunk({"reasoning": "m"}),
            chunk({"content": "Hel"}),
            chunk({"content": "lo"}, None, 1),
            chunk({"content": "lo"}),
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "c",
                            "type": "function",
                            "function": {"name": "f", "arguments": ""},
                        }
                    ]
                }
            ),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a":1}'}}]}),
            chunk({}, "tool_calls"),
            chunk({}, "stop", 1),
            event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
            DONE,
        ]
    )
    body = told(got)
    assert [c["finish_reason"] for c in body["choices"]] == ["tool_calls", "stop"]
    assert body["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Hello",
        "reasoning_content": "hm",
        "tool_calls": [CALL],
    }
    assert body["choices"][1]["message"]["content"] == "lo"
    assert (body["system_fingerprint"], got.usage) == ("f", Usage(3, output=2))


def test_a_broken_stream_gives_no_answer() -> None:
    got = assemble([chunk({"content": "x"})])
    assert got.fault is not None
    assert got.fault.kind is FaultKind.BROKE_OFF


def test_log_probabilities_and_annotations_join() -> None:
    def probs(token: str) -> Any:
        return {"content": [{"token": token}], "refusal": None}

    events = [
        event(
            {
                "choices": [
                    {"index": 0, "delta": {"content": t, "annotations": [t]}, "logprobs": probs(t)}
                ]
            }
        )
        for t in "ab"
    ]
    (choice,) = told(assemble([*events, chunk({}, "stop")]))["choices"]
    assert choice["logprobs"]["content"] == [{"token": "a"}, {"token": "b"}]
    assert choice["message"]["annotations"] == ["a", "b"]


@given(
    text=st.text(max_size=12),
    thinking=st.text(max_size=8),
    arguments=st.lists(st.text('{}:1"a', max_size=6), max_size=2),
    refusal=st.sampled_from(["", "no"]),
    finish=st.sampled_from(["stop", "length", "tool_calls", "content_filter"]),
    size=st.integers(1, 4),
)
def test_folding_the_events_of_an_answer_gives_the_answer(
    text: str, thinking: str, arguments: list[str], refusal: str, finish: str, size: int
) -> None:
    def pieces(value: str) -> list[str]:
        return [value[i : i + size] for i in range(0, len(value), size)]

    calls = [
        {"id": f"c{i}", "type": "function", "function": {"name": f"f{i}", "arguments": a}}
        for i, a in enumerate(arguments)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    events: list[dict[str, Any]] = [{"role": "assistant"}]
    events += [{"reasoning_content": p} for p in pieces(thinking)]
    events += [{"content": p} for p in pieces(text)]
    events += [{"refusal": p} for p in pieces(refusal)]
    for index, call in enumerate(calls):
        opening = {**call, "index": index, "function": {"name": f"f{index}", "arguments": ""}}
        events.append({"tool_calls": [opening]})
        events += [
            {"tool_calls": [{"index": index, "function": {"arguments": p}}]}
            for p in pieces(arguments[index])
        ]
    if thinking:
        message["reasoning_content"] = thinking
    if refusal:
        message["refusal"] = refusal
    if calls:
        message["tool_calls"] = calls
    folded = assemble([*[chunk(e) for e in events], chunk({}, finish)])
    plain = read(answer(message, finish))
    assert folded.body == plain.body or json.loads(folded.body) == json.loads(plain.body)
    assert (folded.fault and folded.fault.kind) == (plain.fault and plain.fault.kind)
    assert (folded.finish_reason, folded.delivered_length) == (
        plain.finish_reason,
        plain.delivered_length,
    )


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["index", "message", "content", "tool_calls", "function", "custom", "arguments", "id",
                         "name", "audio", "annotations", "logprobs", "finish_reason", "type", "refusal"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(ODD, max_size=3))
def test_no_json_breaks_the_reader(choices: list[Any]) -> None:
    read(json.dumps({"choices": choices}).encode())
    assembler = Assembler(context())
    for choice in choices:
        moved = {**choice, "delta": choice.get("message")} if isinstance(choice, dict) else choice
        assembler.feed(event({"choices": [moved]}))
        assembler.feed(event({"choices": [moved]}))
    assembler.end()
    assembler.whole()
