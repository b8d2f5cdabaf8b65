"""What errors of this format mean for routing."""

import json

import pytest

from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.openai_responses.errors import fault, fault_inside


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", FaultKind.BAD_ANSWER),
        ("rate_limit_exceeded", FaultKind.RATE_LIMITED),
        ("insufficient_quota", FaultKind.OUT_OF_CREDIT),
        ("context_length_exceeded", FaultKind.CONTEXT_OVERFLOW),
        ("invalid_prompt", FaultKind.CONTENT_POLICY),
        ("bio_policy", FaultKind.CONTENT_POLICY),
        ("invalid_image", FaultKind.REJECTED),
        ("server_is_overloaded", FaultKind.OVERLOADED),
        (None, FaultKind.BAD_ANSWER),
    ],
)
def test_codes_decide_inside_an_answer(code: str | None, kind: FaultKind) -> None:
    error = {"code": code, "message": "words"}
    flat = {"type": "error", **error, "param": None, "sequence_number": 3}
    for shape in (error, flat, {"type": "error", "error": error}):
        found = fault_inside(shape, Profile())
        assert (found.kind, found.message, found.type) == (kind, "words", None)


@pytest.mark.parametrize("error", [None, "x", [], {}])
def test_an_error_without_words_is_a_bad_answer(error: object) -> None:
    assert fault_inside(error, Profile()).kind is FaultKind.BAD_ANSWER


@pytest.mark.parametrize(
    ("message", "wait"),
    [("try again in 1.5s.", 1.5), ("try again in 20ms", 0.02), ("try again in 2 days", None)],
)
def test_the_wait_is_read_out_of_the_message(message: str, wait: float | None) -> None:
    found = fault_inside({"code": "rate_limit_exceeded", "message": message}, Profile())
    assert found.retry_after == wait


@pytest.mark.parametrize(
    ("param", "common"),
    [
        ("input[2].content[0]", "messages"),
        ("instructions", "messages"),
        ("max_output_tokens", "max_completion_tokens"),
        ("reasoning.effort", "reasoning_effort"),
        ("text.format.schema", "response_format.schema"),
        ("tools[0].parameters", "tools[0].parameters"),
        ("inputs", "inputs"),
        (None, None),
    ],
)
def test_fields_are_told_in_the_common_words(param: str | None, common: str | None) -> None:
    body = {"error": {"message": "no", "type": "invalid_request_error", "param": param}}
    found = fault(400, {}, json.dumps(body).encode(), 0.0, Profile())
    assert (found.kind, found.param) == (FaultKind.REJECTED, common)


def test_what_we_asked_for_ourselves_is_not_the_callers_fault() -> None:
    body = {"error": {"message": "must be verified", "param": "reasoning.summary"}}
    found = fault(400, {}, json.dumps(body).encode(), 0.0, Profile())
    assert (found.kind, found.lacks) == (FaultKind.MODEL_FAULT, "thinking_summary")
