from zurelay.admin.parts import answer, refusal
from zurelay.chat import problems
from zurelay.chat.problems import Problem
from zurelay.wire import json


def test_answers_are_json_that_nobody_keeps() -> None:
    made = answer({"a": [1]})
    assert (made.status_code, made.body) == (200, b'{"a":[1]}')
    assert made.headers["cache-control"] == "no-store"
    assert made.headers["content-type"] == "application/json"


def test_refusals_have_openais_shape_and_the_headers_of_their_status() -> None:
    made = refusal(problems.invalid_key("No."))
    assert made.status_code == 401
    assert made.headers["www-authenticate"] == "Bearer"
    assert json.decode(bytes(made.body))["error"] == {
        "message": "No.",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_api_key",
    }
    later = refusal(Problem(503, "upstream_error", "x", "Later.", retry_after=5))
    assert later.headers["retry-after"] == "5"
    assert "www-authenticate" not in later.headers
    assert refusal(problems.method_not_allowed("PUT", "GET")).headers["allow"] == "GET"
