"""Streams of the same format: any cutting, the short way and the long way."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.formats.openai_chat.streams import DONE, Ran, chunk, context, event, run
from zurelay.chat.usage import Usage
from zurelay.formats.openai_chat.stream import RelayStream


def test_events_come_under_our_id_and_model_and_nothing_else_changes() -> None:
    ran = run(
        chunk({"role": "assistant", "content": ""}, service_tier="default"),
        chunk({"content": "Hel"}, system_fingerprint="fp"),
        chunk({"content": "lo"}, system_fingerprint="fp"),
        chunk({}, "stop"),
        event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
        DONE,
    )
    assert ran.joined("content") == "Hello"
    assert {(c["id"], c["model"], c["created"]) for c in ran.chunks} == {
        ("chatcmpl-ours", "public", 5)
    }
    assert [c.get("system_fingerprint") for c in ran.chunks] == [None, "fp", "fp", None]
    assert b"secret" not in ran.out
    assert b"theirs" not in ran.out
    assert ran.reasons == ["stop"]
    assert ran.finished == 1
    assert ran.stream.usage == Usage(input=3, output=2, tier="standard")
    assert ran.stream.delivered_length == 5
    assert [step.token for step in ran.steps] == [False, True, True, False, False, False]
    assert ran.steps[-1].ended


def test_the_finale_has_usage_only_if_wanted_and_ends_with_the_comment() -> None:
    usage = Usage(input=1, output=2)
    told = RelayStream(context()).finale(usage, b": x\n\n")
    first, comment, done, empty = told.split(b"\n\n")
    assert json.loads(first.removeprefix(b"data: "))["choices"] == []
    assert (comment, done, empty) == (b": x", b"data: [DONE]", b"")
    assert RelayStream(context(include_usage=False)).finale(usage, b"") == DONE


DELTAS = st.sampled_from(
    [
        {"content": "a"},
        {"content": "北京 😀"},
        {"content": "", "role": "assistant"},
        {"content": None, "reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning_content": "x", "reasoning": "x", "content": ""},
        {"content": 'quo"te\n , "usage":null}'},
        {"content": "t", "refusal": None},
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "c",
                    "type": "function",
                    "function": {"name": "f", "arguments": ""},
                }
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]},
        {"tool_calls": [{"index": 1, "id": "d", "function": {"name": "g", "arguments": "{}"}}]},
        {},
        None,
    ]
)
MORE = st.sampled_from(
    [
        {},
        {"usage": None},
        {"usage": None, "obfuscation": "xyz"},
        {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        {"x_groq": {"id": "secret"}},
        {"model": "secret-other"},
    ]
)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    line_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    spaced = draw(st.booleans())
    events = []
    for _ in range(draw(st.integers(0, 8))):
        body = json.loads(chunk(draw(DELTAS), index=draw(st.sampled_from([0, 0, 0, 1])))[6:])
        body |= draw(MORE)
        events.append(body)
    if draw(st.booleans()):
        events.append(json.loads(chunk({}, draw(st.sampled_from(["stop", "length"])))[6:]))
    texts = [json.dumps(e, separators=None if spaced else (",", ":")) for e in events]
    lines = [f"data: {text}{line_end}{line_end}" for text in texts]
    comment = f": keep-alive{line_end}{line_end}"
    return "".join([comment, *lines, draw(st.sampled_from(["data: [DONE]\n\n", ""]))]).encode()


@given(streams(), st.data())
def test_any_cutting_gives_the_same(raw: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    whole, cut = Ran([raw], context()), Ran(pieces, context())
    single = Ran([raw[i : i + 1] for i in range(len(raw))], context())
    for other in (cut, single):
        assert other.out == whole.out
        assert (other.fault is None) == (whole.fault is None)
        assert other.stream.usage == whole.stream.usage
        assert other.stream.finish_reason == whole.stream.finish_reason
        assert other.stream.delivered_length == whole.stream.delivered_length


@given(streams())
def test_the_short_way_and_the_long_way_give_the_same_bytes(raw: bytes) -> None:
    pieces = re.findall(rb".+?(?:\n\n|\r\n\r\n|\r\r)|.+", raw, re.DOTALL)
    fast, slow = Ran(pieces, context()), Ran(pieces, context(), splice=False)
    assert fast.out == slow.out
    assert fast.token == slow.token
    assert fast.stream.delivered_length == slow.stream.delivered_length
    assert b"secret" not in fast.out


@given(st.binary(max_size=80), st.booleans())
def test_no_bytes_break_the_reader(raw: bytes, begun: bool) -> None:
    stream = RelayStream(context())
    if begun:
        stream.feed(chunk({"content": "a"}))
        stream.feed(chunk({"content": "a"}))
    stream.feed(b"data: " + raw + b"\n\n")
    stream.end()


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "index",
                    "delta",
                    "content",
                    "tool_calls",
                    "function",
                    "arguments",
                    "id",
                    "name",
                    "reasoning",
                    "reasoning_details",
                    "finish_reason",
                    "usage",
                    "type",
                    "text",
                    "message",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["choices", "usage", "error", "x_groq", "id"]), ODD, max_size=3
        ),
        max_size=4,
    )
)
def test_no_json_breaks_the_reader(bodies: list[Any]) -> None:
    stream = RelayStream(context(stop=("x",)))
    for body in bodies:
        stream.feed(event(body))
    stream.end()


def test_a_choice_that_has_finished_says_nothing_more() -> None:
    late = [chunk({"content": "late"}), chunk({"role": "assistant", "content": ""}, "length")]
    ran = run(chunk({"content": "a"}), chunk({"content": "b"}), chunk({}, "stop"), *late, DONE)
    assert (ran.joined("content"), ran.reasons) == ("ab", ["stop"])


def test_a_role_is_told_once() -> None:
    ran = run(*[chunk({"role": "assistant", "content": "a"})] * 2, *[chunk({"content": "b"})] * 2,
              chunk({"role": "assistant", "content": "c"}), chunk({}, "stop"))  # fmt: skip
    roles = [c["choices"][0]["delta"].get("role") for c in ran.chunks]
    assert roles == ["assistant", None, None, None, None, None]
    assert ran.joined("content") == "aabbc"


def test_an_event_that_is_under_way_is_not_overtaken() -> None:
    plain = chunk({"content": "a"})
    for half in (b'data: {"choices":\n', b"data: {", b"event: x\n", b": comm"):
        pieces = [plain, plain, half, plain, plain, chunk({}, "stop")]
        cut, whole = Ran(pieces, context()), Ran([b"".join(pieces)], context())
        assert cut.out == whole.out


def test_an_error_after_the_last_finish_reason_comes_too_late() -> None:
    ran = run(chunk({"content": "a"}), chunk({}, "stop"), event({"error": {"message": "x"}}), DONE)
    assert ran.fault is None
    assert ran.reasons == ["stop"]
