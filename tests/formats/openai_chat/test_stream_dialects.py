"""Streams of the same format: what the dialects of many hosts come to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.openai_chat.streams import DONE, chunk, event, run
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "reasoning_text"])
@pytest.mark.parametrize("splice", [True, False])
def test_thinking_comes_as_reasoning_content_alone(field: str, splice: bool) -> None:
    ran = run(
        chunk({"role": "assistant", "content": "", field: ""}),
        chunk({"content": "", field: "th"}),
        chunk({"content": "", field: "ink"}),
        chunk({"content": "A", field: ""}),
        chunk({}, "stop"),
        splice=splice,
    )
    assert ran.joined("reasoning_content") == "think"
    assert ran.joined("content") == "A"
    deltas = [c["choices"][0]["delta"] for c in ran.chunks]
    assert all(d.get("reasoning_content", "x") for d in deltas)
    assert not any("reasoning" in d or "reasoning_text" in d for d in deltas)


def test_two_copies_of_thinking_come_once_and_proofs_stay() -> None:
    details = [{"type": "reasoning.text", "text": "hm", "index": 0}]
    proof = [{"type": "reasoning.text", "text": "", "signature": "SIG", "format": "f", "index": 0}]
    ran = run(
        chunk({"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": details}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "more", "index": 0}]}),
        chunk({"content": "", "reasoning_details": proof}),
        chunk({"content": "A"}, "stop"),
    )
    assert ran.joined("reasoning_content") == "hmmore"
    signed = [c["choices"][0]["delta"].get("reasoning_details") for c in ran.chunks]
    assert [s for s in signed if s] == [
        [{"type": "reasoning.text", "signature": "SIG", "format": "f", "index": 0}]
    ]


def test_think_tags_are_parted_from_text() -> None:
    pieces = ["<thi", "nk>\nwhy", "</thi", "nk>", "\n\n", "So", " </think> stays"]
    ran = run(
        *[chunk({"content": p}) for p in pieces],
        chunk({}, "stop"),
        profile=Profile(think_tags=True),
    )
    assert ran.joined("reasoning_content") == "why"
    assert ran.joined("content") == "So </think> stays"


def test_content_as_a_list_of_parts_is_text_and_thinking() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    ran = run(
        chunk({"content": [thought]}),
        chunk({"content": [{"type": "text", "text": "A"}]}),
        chunk({"content": "B"}, "stop"),
    )
    assert (ran.joined("reasoning_content"), ran.joined("content")) == ("hm", "AB")


def tool(**call: Any) -> bytes:
    return chunk({"tool_calls": [call]})


def test_interleaved_calls_stay_apart() -> None:
    ran = run(
        tool(index=0, id="A", type="function", function={"name": "f", "arguments": ""}),
        tool(index=1, id="B", type="function", function={"name": "g", "arguments": ""}),
        tool(index=0, function={"arguments": '{"x"'}),
        tool(index=1, function={"arguments": '{"y"'}),
        tool(index=0, function={"arguments": ":1}"}),
        tool(index=1, function={"arguments": ":2}"}),
        chunk({}, "tool_calls"),
    )
    assert ran.calls == {0: ["A", "f", '{"x":1}'], 1: ["B", "g", '{"y":2}']}
    assert ran.reasons == ["tool_calls"]


@pytest.mark.parametrize(
    ("events", "names", "arguments"),
    [
        # No index, an id each (old Ollama, Google's compatible endpoint).
        ([{"id": "a", "function": {"name": "f", "arguments": "{}"}},
          {"id": "b", "function": {"name": "g", "arguments": "{}"}}], ["f", "g"], ["{}", "{}"]),
        # Neither index nor id, whole calls with objects for arguments.
        ([{"function": {"name": "f", "arguments": {"a": 1}}},
          {"function": {"name": "f", "arguments": {"a": 2}}}], ["f", "f"], ['{"a":1}', '{"a":2}']),
        # Name and id in every piece.
        ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}},
          {"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}}], ["f"], ["{}"]),
        # The name comes late, later pieces have an empty one (LM Studio).
        ([{"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": "{"}},
          {"index": 0, "id": "", "function": {"name": "f", "arguments": ""}},
          {"index": 0, "id": "", "function": {"name": "", "arguments": "}"}}], ["f"], ["{}"]),
        # One index for two whole calls.
        ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
          {"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}], ["f", "g"], ["{}", "{}"]),
        # Numbers from 1; nulls everywhere.
        ([{"index": 1, "id": "a", "type": "function", "function": {"name": "f", "arguments": None}},
          {"index": 1, "id": None, "type": None, "function": {"name": None, "arguments": "{}"}}], ["f"], ["{}"]),
        # The same id twice (Mantle restarts its count).
        ([{"index": 0, "id": "call_0", "function": {"name": "f", "arguments": "{}"}},
          {"index": 1, "id": "call_0", "function": {"name": "g", "arguments": "{}"}}], ["f", "g"], ["{}", "{}"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("splice", [True, False])
def test_tool_calls_of_every_dialect(
    events: list[Any], names: list[str], arguments: list[str], splice: bool
) -> None:
    ran = run(*[tool(**e) for e in events], chunk({}, "stop"), splice=splice)
    assert [c[1] for c in ran.calls.values()] == names
    assert [c[2] for c in ran.calls.values()] == arguments
    assert list(ran.calls) == list(range(len(names)))
    ids = [c[0] for c in ran.calls.values()]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert ran.reasons == ["tool_calls"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [("eos", "stop"), ("end", "stop"), ("model_length", "length"), ("sensitive", "content_filter"),
     ("model_context_window_exceeded", "length"), ("tool_calls", "stop"), ("max_tokens", "length")],
)  # fmt: skip
def test_finish_reasons_become_one_of_four(word: str, reason: str) -> None:
    ran = run(chunk({"content": "a"}), chunk({}, ""), chunk({}, word), chunk({}, word), DONE)
    assert ran.reasons == [reason]
    assert ran.stream.finish_reason == reason
    assert ran.fault is None


@pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource"])
def test_finish_reasons_that_are_failures(word: str) -> None:
    ran = run(chunk({"content": "a"}), chunk({}, word))
    assert ran.fault is not None
    assert ran.reasons == []


def test_usage_is_taken_out_wherever_it_stands_and_the_last_holds() -> None:
    def count(n: int) -> Any:
        return {"prompt_tokens": n, "completion_tokens": n, "total_tokens": 2 * n}

    for last in (
        [chunk({}, "stop", usage=count(7))],
        [
            event(
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": count(7)}]}
            )
        ],
        [chunk({}, "stop", x_groq={"id": "r", "usage": count(7)})],
        [chunk({}, "stop"), chunk({"content": ""}, None, usage=count(7))],
        [chunk({}, "stop"), event({"id": "x", "usage": count(7)})],
    ):
        ran = run(
            chunk({"content": "a"}, usage=count(1)),
            chunk({"content": "b"}, usage=count(2)),
            *last,
            DONE,
        )
        assert ran.stream.usage == Usage(input=7, output=7)
        assert b"usage" not in ran.out
        assert ran.joined("content") == "ab"
        assert ran.reasons == ["stop"]
        assert all(c["choices"] for c in ran.chunks)


def test_noise_is_tolerated() -> None:
    ran = run(
        event({"choices": [], "prompt_filter_results": [{"model": "secret"}]}),
        event({"id": "x"}),
        b"data: null\n\ndata: ping\n\ndata:\n\n: comment\n\n",
        event({"choices": None}),
        event({"choices": [{"index": 0, "delta": None}]}),
        event({"choices": [{"delta": {"role": "assistant", "content": "A"}}]}),
        chunk({"role": "assistant", "content": "B"}),
        b"data: {broken\n\n",
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00"}}]}\n\n',
        event({"choices": []}),
        chunk({}, "stop"),
    )
    assert ran.fault is None
    text = ran.joined("content")
    assert text.encode("utf-16", "surrogatepass").decode("utf-16") == "AB😀"
    roles = [c["choices"][0]["delta"].get("role") for c in ran.chunks]
    assert [r for r in roles if r] == ["assistant"]
    assert all(c["choices"] for c in ran.chunks)


def test_invalid_utf8_in_a_delta_costs_one_character_not_the_answer() -> None:
    bad = chunk({"content": "aXb"}).replace(b"X", b"\xff")
    for begun in ([], [chunk({"content": "x"}), chunk({"content": "x"})]):
        ran = run(*begun, bad, chunk({}, "stop"))
        assert ran.fault is None
        assert ran.joined("content").endswith("a\ufffdb")


def test_a_repeated_model_key_does_not_leak() -> None:
    first = chunk({"content": "a"})
    late = first.replace(b"]}\n\n", b'],"model":"secret"}\n\n')
    ran = run(first, first, late, chunk({}, "stop"))
    assert ran.joined("content") == "aaa"
    assert b"secret" not in ran.out


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            {"error": {"message": "overloaded", "type": "server_error", "code": 503}},
            FaultKind.OVERLOADED,
        ),
        ({"error": {"message": "m", "code": 502}, "choices": []}, FaultKind.BAD_ANSWER),
        ({"error": "boom"}, FaultKind.BAD_ANSWER),
        ({"error": {"message": "x", "code": 429}}, FaultKind.RATE_LIMITED),
        ({"error": {"message": "x", "code": "insufficient_quota"}}, FaultKind.OUT_OF_CREDIT),
        (
            {"error": {"message": "x", "code": "context_length_exceeded"}},
            FaultKind.CONTEXT_OVERFLOW,
        ),
        ({"error": {"message": "bad", "type": "invalid_request_error"}}, FaultKind.BAD_ANSWER),
        ({"object": "error", "message": "m", "type": "t", "code": "3000"}, FaultKind.BAD_ANSWER),
        ({"message": "flat"}, FaultKind.BAD_ANSWER),
    ],
)
@pytest.mark.parametrize("begun", [True, False])
def test_an_error_inside_a_stream_is_a_fault(body: Any, kind: FaultKind, begun: bool) -> None:
    before = [chunk({"content": "a"})] * 3 if begun else []
    ran = run(*before, event(body))
    assert ran.fault is not None
    assert ran.fault.kind is kind
    assert ran.joined("content") == ("aaa" if begun else "")
    assert not ran.finished


def test_a_null_or_empty_error_is_none() -> None:
    ran = run(chunk({"content": "a"}, error=None), chunk({}, "stop", error={}), DONE)
    assert ran.fault is None
    assert b"error" not in ran.out


def test_a_named_error_event_is_a_fault() -> None:
    ran = run(
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"O"}}\n\n'
    )
    assert ran.fault is not None
    assert ran.fault.kind is FaultKind.OVERLOADED


def test_broken_json_is_a_fault_only_before_the_first_token() -> None:
    assert run(b"data: {broken\n\n").fault.kind is FaultKind.BAD_ANSWER  # type: ignore[union-attr]
    late = run(chunk({"content": "a"}), b"data: {broken\n\n", chunk({}, "stop"))
    assert late.fault is None
    assert late.joined("content") == "a"


@pytest.mark.parametrize("tail", [b"", DONE, b'data: {"choices":[{"ind'])
def test_an_end_without_a_finish_reason_is_broken_off(tail: bytes) -> None:
    ran = run(chunk({"content": "a"}), tail)
    if tail == DONE:
        ran.fault = ran.stream.end().fault
    assert ran.fault is not None
    assert ran.fault.kind is FaultKind.BROKE_OFF


def test_an_end_after_a_finish_reason_is_good_without_an_end_mark() -> None:
    assert run(chunk({"content": "a"}), chunk({}, "stop").rstrip()).fault is None


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "eos"])
def test_an_answer_with_nothing_is_empty(finish: str) -> None:
    ran = run(chunk({"role": "assistant", "content": ""}), chunk({}, finish))
    assert ran.fault is not None
    assert ran.fault.kind is FaultKind.EMPTY


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_nothing_is_an_answer_where_the_reason_explains_it(finish: str) -> None:
    ran = run(chunk({"role": "assistant", "content": ""}), chunk({}, finish))
    assert ran.fault is None
    assert ran.reasons == [finish]


def test_nothing_is_an_answer_to_a_request_with_stop_sequences() -> None:
    assert run(chunk({}, "stop"), may_be_empty=True).fault is None
    assert run(chunk({"reasoning": "x"}), chunk({}, "stop")).fault is None


def test_several_choices_finish_when_all_have() -> None:
    ran = run(
        chunk({"content": "a"}),
        chunk({}, "stop"),
        chunk({"content": "b"}, index=1),
        chunk({}, "stop", index=1),
        choices=2,
    )
    assert [step.finished for step in ran.steps] == [False, False, False, True, False]
    assert (ran.joined("content"), ran.joined("content", 1)) == ("a", "b")
    assert ran.reasons == ["stop", "stop"]


@given(st.integers(0, 12), st.integers(0, 12))
def test_stop_sequences_are_cut_here_whatever_the_pieces(first: int, second: int) -> None:
    text = "Hello EN END of"
    a, b = sorted((first, second))
    pieces = [text[:a], text[a:b], text[b:]]
    ran = run(
        *[chunk({"content": p}) for p in pieces if p],
        chunk({"content": "never"}),
        stop=("END", "zzz"),
    )
    assert ran.joined("content") == "Hello EN "
    assert ran.reasons == ["stop"]
    assert ran.steps[-1].ended
    assert ran.finished == 1
    assert ran.fault is None


def test_text_held_for_a_stop_sequence_comes_with_the_end() -> None:
    ran = run(chunk({"content": "abcEN"}), chunk({}, "length"), stop=("END",))
    assert ran.joined("content") == "abcEN"
    assert ran.reasons == ["length"]


def test_an_endless_line_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from zurelay.wire import sse

    monkeypatch.setattr(sse, "MAX_LINE", 1000)
    ran = run(chunk({"content": "a"}), b"data: " + b"x" * 2000)
    assert ran.fault is not None
    assert ran.fault.kind is FaultKind.BAD_ANSWER
    assert ran.joined("content") == "a"
