"""OpenAI's error shape, for callers."""

from zurelay.chat.problems import Problem
from zurelay.wire import json


def problem_body(problem: Problem) -> bytes:
    """The JSON body of an error answer, and the data of an error event."""
    return json.encode(
        {
            "error": {
                "message": problem.message,
                "type": problem.type,
                "param": problem.param,
                "code": problem.code,
            }
        }
    )
