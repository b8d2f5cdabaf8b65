"""Anthropic's error shape."""

import json

import pytest

from zurelay.chat.problems import Problem, context_overflow
from zurelay.formats.anthropic import problem


@pytest.mark.parametrize(
    ("status", "shown", "kind"),
    [
        (400, 400, "invalid_request_error"),
        (401, 401, "authentication_error"),
        (402, 402, "billing_error"),
        (403, 403, "permission_error"),
        (404, 404, "not_found_error"),
        (405, 405, "invalid_request_error"),
        (408, 408, "invalid_request_error"),
        (409, 409, "invalid_request_error"),
        (413, 413, "request_too_large"),
        (415, 415, "invalid_request_error"),
        (422, 422, "invalid_request_error"),
        (429, 429, "rate_limit_error"),
        (500, 500, "api_error"),
        (502, 502, "api_error"),
        (503, 529, "overloaded_error"),
        (504, 504, "timeout_error"),
    ],
)
def test_every_status(status: int, shown: int, kind: str) -> None:
    one = Problem(status, "x", "y", "m")
    assert problem.status(one) == shown
    assert json.loads(problem.body(one, "r"))["error"] == {"type": kind, "message": "m"}


def test_an_overflow_says_the_words_that_clients_look_for() -> None:
    told = json.loads(problem.body(context_overflow("It is 9 tokens too much."), "r"))
    assert told["error"]["message"] == "prompt is too long: It is 9 tokens too much."
    own = "Prompt is too long: 250000 tokens > 200000 maximum"
    assert json.loads(problem.body(context_overflow(own), "r"))["error"]["message"] == own
