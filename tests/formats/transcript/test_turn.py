"""What holds for every format: streams, errors, and whatever is no conversation."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.transcript.reading import CALL, FORMATS, STREAMS, read, stream
from zurelay.formats.transcript import conversation, laid_out


@pytest.mark.parametrize("front", STREAMS)
def test_a_stream_is_read_as_what_it_comes_to(front: str) -> None:
    assert read(front, {}, events=STREAMS[front]) == [
        ("assistant", [("thinking", "Hmm.", ""), ("text", "It rains.", ""), ("call", CALL, "go")])
    ]


@pytest.mark.parametrize("front", STREAMS)
def test_a_stream_that_was_cut_anywhere_is_read_as_far_as_it_came(front: str) -> None:
    whole = stream(STREAMS[front])
    texts: set[str] = set()
    for end in range(0, len(whole), 7):
        found = conversation(front, b"{}", whole[:end], stream=True)
        texts.update(piece.text for one in found for piece in one.pieces)
    assert {"Hmm.", "It ", "It rains."} <= texts


@pytest.mark.parametrize("front", FORMATS)
def test_errors_are_told(front: str) -> None:
    error = {"error": {"message": "No room.", "type": "upstream_error", "code": "overloaded"}}
    wanted = [("error", [("error", "No room.", "overloaded")])]
    assert read(front, {}, error) == wanted
    if front != "embeddings":
        event = {"type": "response.failed", "response": error} | error
        assert read(front, {}, events=[event]) == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            [
                "messages", "input", "role", "content", "type", "text", "choices", "delta", "index",
                "message", "tool_calls", "function", "arguments", "output", "item", "error",
                "output_index", "content_block", "summary", "system", "image_url", "source",
            ]
        ),
        inner | st.sampled_from(["text", "message", "tool_use", "reasoning", "response.output_text.delta"]),
        max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip


@given(st.sampled_from(FORMATS), JSON, st.lists(JSON, max_size=4), st.booleans())
def test_nothing_that_callers_or_models_send_raises(
    front: str, body: object, answer: list[object], streams: bool
) -> None:
    sent = stream(answer) if streams else json.dumps(answer[0] if answer else None).encode()
    found = conversation(front, json.dumps(body).encode(), sent, stream=streams)
    assert all(isinstance(piece.text, str) for one in found for piece in one.pieces)


@given(st.sampled_from(FORMATS), st.binary(max_size=200), st.booleans())
def test_bytes_that_are_nothing_raise_nothing(front: str, data: bytes, streams: bool) -> None:
    conversation(front, data, data, stream=streams)


@pytest.mark.parametrize(
    "text", [b"[" * 900 + b"]" * 900, b"[" + b"0," * 1_000_001 + b"0]", b"[" * 5000]
)
def test_what_would_take_too_much_to_lay_out_stays_as_it_is(text: bytes) -> None:
    assert laid_out(text) is None
    assert conversation("openai_chat", b'{"messages":[%b]}' % text, b"", stream=False) == []


def test_json_is_laid_out_with_its_numbers_as_they_were() -> None:
    assert laid_out(b'{"a":[1.50,2]}') == '{\n  "a": [\n    1.50,\n    2\n  ]\n}'
