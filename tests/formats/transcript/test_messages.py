from tests.formats.transcript.reading import CALL, read


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
