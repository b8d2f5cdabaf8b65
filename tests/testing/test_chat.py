from zurelay.testing import chat_chunks, chat_reply, chat_usage


def test_a_reply_has_text_a_finish_and_usage() -> None:
    reply = chat_reply("Hi", model="m", usage=chat_usage(1, 2))
    assert reply["model"] == "m"
    (choice,) = reply["choices"]
    assert choice["message"] == {"role": "assistant", "content": "Hi"}
    assert choice["finish_reason"] == "stop"
    assert reply["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def test_a_reply_can_call_tools() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    reply = chat_reply(None, finish_reason="tool_calls", tool_calls=[call])
    assert reply["choices"][0]["message"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
    }


def test_chunks_are_a_role_the_text_a_finish_and_done() -> None:
    *chunks, done = chat_chunks("one two", model="m")
    assert done == "[DONE]"
    deltas = [c["choices"][0]["delta"] for c in chunks if isinstance(c, dict)]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"content": "one"},
        {"content": " two"},
        {},
    ]
    last = chunks[-1]
    assert isinstance(last, dict)
    assert last["choices"][0]["finish_reason"] == "stop"


def test_usage_comes_in_a_chunk_without_choices() -> None:
    *_, usage, _ = chat_chunks(["a", "b"], usage=chat_usage())
    assert isinstance(usage, dict)
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] == 12


def test_no_text_gives_no_text_chunk() -> None:
    assert len(chat_chunks("")) == 3
