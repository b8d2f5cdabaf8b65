"""The response object: what it repeats of its request."""

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION, context, read
from zurelay.chat import problems
from zurelay.formats.openai_responses import response as shape
from zurelay.wire import json


def test_what_was_left_out_has_openais_defaults() -> None:
    same = shape.repeated(read().body)
    assert same["text"] == {"format": {"type": "text"}}
    assert same["reasoning"] == {"effort": None, "summary": None}
    assert (same["store"], same["temperature"], same["truncation"]) == (False, 1.0, "disabled")


def test_what_was_given_is_repeated_and_null_is_left_out() -> None:
    asked = read(
        reasoning={"effort": "low"},
        temperature=0.5,
        top_p=None,
        text={"verbosity": "low"},
        tools=[{"type": "function", "name": "f"}, CUSTOM],
    ).body
    same = json.decode(json.encode(shape.repeated(asked)))
    assert same["reasoning"]["effort"] == "low"
    assert (same["temperature"], same["top_p"]) == (0.5, 1.0)
    assert same["text"] == {"verbosity": "low", "format": {"type": "text"}}
    assert same["tools"][0] == {
        "type": "function",
        "name": "f",
        "description": None,
        "parameters": None,
        "strict": None,
    }


def test_ids_of_items_are_the_same_for_the_same_place_only() -> None:
    ids = [shape.item_id(context(), "msg", place) for place in (0, 0, 1)]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0].startswith("msg_")


def test_an_error_has_a_code_in_any_case() -> None:
    problem = problems.Problem(502, "upstream_error", None, "Told.")
    found = shape.response(context(tools=[FUNCTION]), {}, "failed", problem=problem)
    assert found["error"]["code"] == "server_error"
