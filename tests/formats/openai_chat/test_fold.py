"""Folding choices: texts grow, lists join, the last of the rest holds."""

from zurelay.formats.openai_chat.fold import Fold


def test_fields_of_a_message_join_by_their_kind() -> None:
    fold = Fold()
    for delta in (
        {"role": "assistant", "content": "", "audio": {"id": "a", "data": "A"}},
        {"content": "x", "audio": {"data": "B", "expires_at": 5}, "annotations": [1]},
        {
            "content": None,
            "annotations": [2],
            "note": "old",
            "function_call": {"name": "f", "arguments": "{"},
        },
        {"content": "y", "note": "new", "function_call": {"arguments": "}"}},
    ):
        fold.add({"index": 0, "delta": delta, "finish_reason": None})
    fold.add({"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": None})
    assert fold.choices() == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "xy",
                "audio": {"id": "a", "data": "AB", "expires_at": 5},
                "annotations": [1, 2],
                "note": "new",
                "function_call": {"name": "f", "arguments": "{}"},
            },
            "finish_reason": "stop",
            "stop_reason": None,
        }
    ]


def test_choices_come_by_number() -> None:
    fold = Fold()
    for index in (1, 0):
        fold.add({"index": index, "delta": {"content": str(index)}, "finish_reason": "stop"})
    assert [c["message"]["content"] for c in fold.choices()] == ["0", "1"]
