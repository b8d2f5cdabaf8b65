"""Any front joined to any back, shown by joining Chat Completions to itself through the hub."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.openai_chat.streams import DONE, chunk, context, event
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import Exchange, Target
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.formats.openai_chat.hub import ChatBack, ChatHubFront
from zurelay.formats.translate import TranslatingExchange

HUB: Exchange = TranslatingExchange(ChatHubFront(), ChatBack())
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True},
}
FULL: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "developer", "content": "S"},
        {"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "https://x/y"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BB"}},
            {"type": "input_audio", "input_audio": {"data": "CC", "format": "wav"}},
            {"type": "video_url", "video_url": {"url": "https://x/v"}},
        ]},
        {"role": "assistant", "content": "let me", "reasoning_content": "hm", "tool_calls": [CALL, {**CALL, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": "r1"},
        {"role": "tool", "tool_call_id": "d", "content": "r2"},
        {"role": "user", "name": "bob", "content": "go on"},
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "user", "content": "why"},
    ],
    "max_completion_tokens": 50,
    "temperature": 0.5,
    "top_p": 0.9,
    "stop": ["a", "b"],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True}},
    "seed": 3,
    "n": 2,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.2,
    "logit_bias": {"5": 1},
    "logprobs": True,
    "top_logprobs": 2,
    "verbosity": "low",
    "prompt_cache_key": "k",
}  # fmt: skip


def test_nothing_the_neutral_form_knows_is_lost() -> None:
    target = Target(
        "m",
        "m",
        Profile(
            developer_role=True,
            reasoning_in="reasoning_content",
            token_limit_field="max_completion_tokens",
        ),
    )
    out = HUB.write(ChatFront().read(json.dumps(FULL).encode()), target)
    assert json.loads(out.body) == FULL
    assert out.dropped == ()


def test_what_only_the_callers_format_knows_is_dropped_and_reported() -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "top_k": 1,
        "user": "u",
        "alpha": {},
        "zeta": 1,
    }
    out = HUB.write(ChatFront().read(json.dumps(body).encode()), Target("p", "u", Profile()))
    assert out.dropped == ("top_k", "unknown_fields")  # never a caller's own words
    assert json.loads(out.body) == {"model": "u", "messages": body["messages"]}


def test_quirks_are_obeyed_and_stops_beyond_a_limit_left_to_us() -> None:
    target = Target("p", "u", Profile(tool_ids="mistral9", stop_limit=1), effort="low")
    out = HUB.write(ChatFront().read(json.dumps(FULL).encode()), target)
    body = json.loads(out.body)
    assert (body["stop"], out.stop) == (["a"], ("b",))
    assert len(body["messages"][3]["tool_call_id"]) == 9
    assert body["reasoning_effort"] == "low"
    assert body["max_tokens"] == 50


def test_custom_tools_become_functions_and_allowed_tools_a_filter() -> None:
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "tool_calls": [{"id": "i", "type": "custom", "custom": {"name": "g", "input": "in"}}]},
        ],
        "tools": [TOOL, {"type": "custom", "custom": {"name": "g"}}],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "custom", "custom": {"name": "g"}}]}},
    }  # fmt: skip
    sent = json.loads(
        HUB.write(ChatFront().read(json.dumps(body).encode()), Target("p", "u", Profile())).body
    )
    assert [t["function"]["name"] for t in sent["tools"]] == ["g"]
    assert sent["tool_choice"] == "required"
    assert sent["messages"][1]["tool_calls"][0]["function"] == {
        "name": "g",
        "arguments": '{"input":"in"}',
    }


EVENTS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning": "hm"}),
    chunk({"content": "Hel"}),
    chunk({"content": "lo"}),
    chunk({"tool_calls": [{"index": 0, **CALL}]}),
    chunk({}, "tool_calls"),
    event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    DONE,
]


def chunks(out: bytes) -> list[Any]:
    return [json.loads(part.removeprefix(b"data: ")) for part in out.split(b"\n\n")[:-1]]


def text(out: bytes) -> str:
    return "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks(out))


@given(st.lists(st.integers(0, sum(map(len, EVENTS))), max_size=6))
def test_a_stream_reads_the_same_however_it_is_cut(cuts: list[int]) -> None:
    raw = b"".join(EVENTS)
    edges = [0, *sorted(cuts), len(raw)]
    stream = HUB.stream(context())
    steps = [stream.feed(raw[a:b]) for a, b in pairwise(edges)]
    out = b"".join(step.out for step in steps)
    assert text(out) == "Hello"
    got = chunks(out)
    assert got[0]["choices"][0]["delta"] == {"role": "assistant", "reasoning_content": "hm"}
    assert {(c["id"], c["model"]) for c in got} == {("chatcmpl-ours", "public")}
    assert got[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert sum(step.finished for step in steps) == 1
    assert any(step.ended for step in steps)
    assert (stream.usage, stream.finish_reason) == (Usage(3, output=2), "tool_calls")
    assert stream.delivered_length == 2 + 5 + 8
    assert stream.finale(Usage(1), b"").endswith(DONE)


def test_plain_and_assembled_answers_are_the_same() -> None:
    assembler = HUB.assembler(context())
    for piece in EVENTS:
        assert assembler.feed(piece).out == b""
    assembler.end()
    body = {
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": "Hello", "reasoning_content": "hm", "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }  # fmt: skip
    whole = HUB.whole(json.dumps(body).encode(), context())
    assert assembler.whole() == whole
    told = json.loads(whole.body)
    assert told["choices"] == body["choices"]
    assert told["usage"]["total_tokens"] == 5


def test_stop_sequences_are_cut_between_any_formats() -> None:
    stream = HUB.stream(context(stop=("END",)))
    steps = [stream.feed(chunk({"content": p})) for p in ("one E", "ND two", "three")]
    out = b"".join(step.out for step in steps)
    assert text(out) == "one "
    assert chunks(out)[-1]["choices"][0]["finish_reason"] == "stop"
    assert (steps[1].finished, steps[1].ended) == (True, True)
    whole = HUB.whole(
        json.dumps({"choices": [{"index": 0, "message": {"content": "one END"}}]}).encode(),
        context(stop=("END",)),
    )
    assert json.loads(whole.body)["choices"][0]["message"]["content"] == "one "


def test_signed_thinking_survives_the_round_trip() -> None:
    proof = {"type": "reasoning.text", "signature": "SIG", "format": "vendor-v1"}
    hidden = {"type": "reasoning.encrypted", "data": "ENC", "format": "vendor-v1"}
    body = {
        "choices": [
            {
                "index": 0,
                "message": {
                    "content": "A",
                    "reasoning": "hm",
                    "reasoning_details": [proof, hidden],
                },
            }
        ]
    }
    plain = json.loads(HUB.whole(json.dumps(body).encode(), context()).body)["choices"][0][
        "message"
    ]
    assert plain["reasoning_details"] == [proof, hidden]
    assert plain["reasoning_content"] == "hm"
    assembler = HUB.assembler(context())
    assembler.feed(
        chunk({"reasoning": "hm"})
        + chunk({"reasoning_details": [proof]})
        + chunk({"reasoning_details": [hidden]})
    )
    assembler.feed(chunk({"content": "A"}, "stop"))
    assembler.end()
    assert json.loads(assembler.whole().body)["choices"][0]["message"] == plain


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([chunk({"content": "x"})], FaultKind.BROKE_OFF),
        ([chunk({"role": "assistant"}), chunk({}, "stop")], FaultKind.EMPTY),
        ([event({"error": {"message": "x", "code": 503}})], FaultKind.OVERLOADED),
    ],
)
def test_failures_are_faults(events: list[bytes], kind: FaultKind) -> None:
    stream = HUB.stream(context())
    steps = [*map(stream.feed, events)]
    fault = next((step.fault for step in steps if step.fault), None) or stream.end().fault
    assert fault is not None
    assert fault.kind is kind
    assert HUB.whole(b"{", context()).fault is not None
    assert HUB.fault(402, {}, b"", 0, Profile()).kind is FaultKind.OUT_OF_CREDIT


def test_usage_is_estimated_where_nobody_counts() -> None:
    whole = HUB.whole(
        json.dumps({"choices": [{"message": {"content": "x" * 8}}]}).encode(), context()
    )
    assert whole.usage == Usage(input=10, output=2, estimated=True)


def test_a_choice_that_has_finished_says_nothing_more() -> None:
    stream = HUB.stream(context(stop=("END",)))
    deltas = [{"content": "one END"}, {"content": "more"}, {"reasoning": "late"}]
    steps = [stream.feed(chunk(delta)) for delta in deltas]
    assert text(b"".join(step.out for step in steps)) == "one "
    assert [step.token for step in steps] == [True, False, False]
    assert sum(step.finished for step in steps) == 1


def test_nothing_is_an_answer_to_a_request_with_stop_sequences() -> None:
    empty = chunk({"role": "assistant"}), chunk({}, "stop")
    stream = HUB.stream(context(may_be_empty=True))
    assert [stream.feed(piece).fault for piece in empty] == [None, None]
    body = json.dumps({"choices": [{"message": {"content": ""}}]}).encode()
    assert HUB.whole(body, context(may_be_empty=True)).fault is None
    refused = HUB.whole(body, context()).fault
    assert refused is not None
    assert refused.kind is FaultKind.EMPTY
