from tests.formats.transcript.reading import read


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


def test_embeddings_read_as_texts_and_how_many_vectors() -> None:
    answer = {"data": [{"embedding": "[1024 numbers, not kept]"}]}
    assert read("embeddings", {"input": ["a", "b"]}, answer) == [
        ("input", [("text", "a", ""), ("text", "b", "")]),
        ("output", [("note", "[1024 numbers, not kept]", "embedding")]),
    ]
