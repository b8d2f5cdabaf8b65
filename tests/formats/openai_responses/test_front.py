"""What callers of Responses may send as a whole, and how errors look."""

import json

import pytest

from tests.formats.openai_responses.answered import FUNCTION, LifeCycle, context, read, refused
from zurelay.chat import problems
from zurelay.chat.estimate import PER_MESSAGE, measure
from zurelay.chat.problems import Refused
from zurelay.formats.base import Ability
from zurelay.formats.openai_responses.front import ResponsesFront

FRONT = ResponsesFront()


def test_the_smallest_request() -> None:
    inbound = read()
    assert (inbound.front, inbound.model, inbound.stream) == ("openai_responses", "m", False)
    assert (inbound.text_length, inbound.opening) == (measure(["Hi"]) + PER_MESSAGE, b"\x00Hi")
    assert inbound.effort is None
    assert not inbound.needs


def test_what_is_read_of_a_full_one() -> None:
    inbound = read(
        stream=True,
        instructions="Be kind",
        max_output_tokens=20,
        reasoning={"effort": "high", "summary": "auto"},
        models=["x", "y", "x"],
        user="u",
        metadata={"a": "b"},
        safety_identifier="s",
        prompt_cache_key="k",
        tools=[FUNCTION],
        tool_choice="required",
        text={"format": {"type": "json_schema", "name": "n", "schema": {}}},
        temperature=None,
    )
    assert inbound.stream
    assert (inbound.max_output, inbound.effort) == (20, "high")
    assert inbound.alternatives == ("x", "y")
    assert (inbound.user, inbound.metadata, inbound.safety_identifier) == ("u", {"a": "b"}, "s")
    assert inbound.cache_key == "k"
    assert set(inbound.needs) == {Ability.TOOLS, Ability.FORCED_TOOL, Ability.JSON_SCHEMA}
    assert inbound.opening == b"Be kind\x00Hi"
    assert inbound.text_length > len("Be kind" + "Hi")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": "\xff"}'])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as caught:
        FRONT.read(body)
    assert caught.value.problem.code == "invalid_json"


def test_the_model_is_required() -> None:
    assert refused(model=None).code == "missing_required_parameter"
    assert refused(model="").param == "model"


def test_errors_have_openais_shape() -> None:
    status, body = FRONT.problem_body(problems.invalid_value("input", "Told."), "req_1")
    assert status == 400
    assert json.loads(body)["error"]["param"] == "input"


def test_a_stream_that_fails_before_it_began_still_begins() -> None:
    cycle = LifeCycle.of(FRONT.failure(problems.internal(), context()))
    assert cycle.ended == "failed"
    assert cycle.response["error"]["message"]


def test_an_error_of_an_unknown_stream_is_a_flat_event() -> None:
    event = FRONT.problem_event(problems.internal(), "req_1")
    assert event.startswith(b"event: error\ndata: {")
    assert json.loads(event.split(b"data: ")[1])["type"] == "error"
