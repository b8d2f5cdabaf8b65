"""Requests and answers of all formats read as conversations, whole, streamed, broken or cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.transcript import conversation

FORMATS = ("openai_chat", "anthropic", "openai_responses", "embeddings")
STREAMS: dict[str, list[Any]] = {
    "openai_chat": [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "Hm"}}]},
        {"choices": [{"index": 0, "delta": {"reasoning_content": "m."}}]},
        {"choices": [{"index": 0, "delta": {"content": "It "}}]},
        {"choices": [{"index": 0, "delta": {"content": "rains."}}]},
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "c1",
                                "function": {"name": "go", "arguments": '{"a"'},
                            }
                        ]
                    },
                }
            ]
        },
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
                }
            ]
        },
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ],
    "anthropic": [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hmm."}},
        {"index": 0, "delta": {"type": "signature_delta", "signature": "xyz"}},
        {"index": 1, "content_block": {"type": "text", "text": ""}},
        {"index": 1, "delta": {"type": "text_delta", "text": "It "}},
        {"index": 1, "delta": {"type": "text_delta", "text": "rains."}},
        {"index": 2, "content_block": {"type": "tool_use", "name": "go", "input": {}}},
        {"index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"index": 2, "delta": {"type": "input_json_delta", "partial_json": ":1}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ],
    "openai_responses": [
        {"type": "response.created", "response": {"output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "m."},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {"type": "message", "role": "assistant", "content": []},
        },
        {"type": "response.output_text.delta", "output_index": 1, "delta": "It "},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "rains."},
        {
            "type": "response.output_item.added",
            "output_index": 2,
            "item": {"type": "function_call", "name": "go", "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ":1}"},
    ],
}
CALL = '{\n  "a": 1\n}'


def stream(events: list[Any]) -> bytes:
    return b"".join(b"event: x\ndata: %b\n\n" % json.dumps(event).encode() for event in events)


def read(front: str, body: Any, answer: Any = None, *, events: list[Any] | None = None) -> Any:
    sent = b"" if answer is None else json.dumps(answer).encode()
    if events is not None:
        sent = stream(events)
    found = conversation(front, json.dumps(body).encode(), sent, stream=events is not None)
    return [
        (one.role, [(piece.kind, piece.text, piece.name) for piece in one.pieces]) for one in found
    ]


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


def test_a_chat_reads_as_it_went() -> None:
    body = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "[image/png, 5 bytes, not kept]"}},
                    {"type": "input_audio", "input_audio": {"data": "x"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{broken"}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a cat"}]},
        ]
    }
    answer = {"choices": [{"message": {"role": "assistant", "content": "A cat.", "refusal": "no"}}]}
    assert read("openai_chat", body, answer) == [
        ("system", [("text", "Be brief.", "")]),
        (
            "user",
            [
                ("text", "What is this?", ""),
                ("file", "[image/png, 5 bytes, not kept]", ""),
                ("file", '{\n  "data": "x"\n}', "input_audio"),
            ],
        ),
        ("assistant", [("call", "{broken", "look")]),
        ("tool", [("result", "a cat", "c1")]),
        ("assistant", [("text", "A cat.", ""), ("refusal", "no", "")]),
    ]


def test_messages_read_as_they_went() -> None:
    body = {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "tool_use", "name": "look", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "a cat"}],
                    },
                    {"type": "image", "source": {"type": "base64", "data": "[image/png]"}},
                    {"type": "new_thing", "x": 1},
                ],
            },
        ],
    }
    answer = {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]}
    assert read("anthropic", body, answer) == [
        ("system", [("text", "Be brief.", "")]),
        ("user", [("text", "Hi", "")]),
        ("assistant", [("thinking", "…", "redacted"), ("call", CALL, "look")]),
        (
            "user",
            [
                ("result", "a cat", "t1"),
                ("file", "[image/png]", "image"),
                ("note", '{\n  "type": "new_thing",\n  "x": 1\n}', "new_thing"),
            ],
        ),
        ("assistant", [("text", "A cat.", "")]),
    ]


def test_responses_read_as_they_went() -> None:
    body = {
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Hi"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": "[application/pdf]"},
                ],
            },
            {"type": "function_call", "name": "look", "arguments": '{"a":1}', "call_id": "c1"},
            {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
        ],
    }
    answer = {
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hmm."}]},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "A cat."}],
            },
        ]
    }
    wanted = [
        ("system", [("text", "Be brief.", "")]),
        ("user", [("text", "Hi", ""), ("file", "[application/pdf]", "a.pdf")]),
        ("assistant", [("call", CALL, "look")]),
        ("tool", [("result", "a cat", "c1")]),
        ("assistant", [("thinking", "Hmm.", ""), ("text", "A cat.", "")]),
    ]
    assert read("openai_responses", body, answer) == wanted
    done = [{"type": "response.completed", "response": answer}]
    assert read("openai_responses", body, events=done) == wanted
    assert read("openai_responses", {"input": "Hi"})[0] == ("user", [("text", "Hi", "")])


@pytest.mark.parametrize("front", FORMATS)
def test_errors_are_told(front: str) -> None:
    error = {"error": {"message": "No room.", "type": "upstream_error", "code": "overloaded"}}
    wanted = [("error", [("error", "No room.", "overloaded")])]
    assert read(front, {}, error) == wanted
    if front != "embeddings":
        event = {"type": "response.failed", "response": error} | error
        assert read(front, {}, events=[event]) == wanted


def test_embeddings_read_as_texts_and_how_many_vectors() -> None:
    answer = {"data": [{"embedding": "[1024 numbers, not kept]"}]}
    assert read("embeddings", {"input": ["a", "b"]}, answer) == [
        ("input", [("text", "a", ""), ("text", "b", "")]),
        ("output", [("note", "[1024 numbers, not kept]", "embedding")]),
    ]


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
