from tests.formats.transcript.reading import CALL, read


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
