"""OpenAI's error shape."""

import json

from zurelay.chat.problems import Problem
from zurelay.formats.openai_chat.errors import problem_body


def test_all_four_fields_are_always_there() -> None:
    assert json.loads(problem_body(Problem(404, "t", None, 'a "b"\n'))) == {
        "error": {"message": 'a "b"\n', "type": "t", "param": None, "code": None}
    }
