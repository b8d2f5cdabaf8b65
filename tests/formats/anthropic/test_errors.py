"""What Anthropic's errors mean."""

import json
from typing import Any

import pytest

from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.anthropic.errors import fault, fault_inside

PROFILE = Profile()


def body(kind: str, message: str = "m", **more: Any) -> dict[str, Any]:
    error = {"type": kind, "message": message, **more}
    return {"type": "error", "error": error, "request_id": "req_up"}


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, body("invalid_request_error", "max_tokens: too large"), FaultKind.REJECTED),
        (
            400,
            body("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
            FaultKind.CONTEXT_OVERFLOW,
        ),
        (
            400,
            body("invalid_request_error", "Your credit balance is too low to access the API."),
            FaultKind.OUT_OF_CREDIT,
        ),
        (
            400,
            body("invalid_request_error", "messages.0: 'Your credit balance is too low'"),
            FaultKind.REJECTED,
        ),
        (401, body("authentication_error"), FaultKind.REFUSED_CREDENTIAL),
        (402, body("billing_error"), FaultKind.OUT_OF_CREDIT),
        (403, body("permission_error"), FaultKind.REFUSED_CREDENTIAL),
        (404, body("not_found_error", "model: claude-x"), FaultKind.MODEL_MISSING),
        (413, body("request_too_large", "Request exceeds 32 MB"), FaultKind.REJECTED),
        (429, body("rate_limit_error"), FaultKind.RATE_LIMITED),
        (
            429,
            body("rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
            FaultKind.OUT_OF_CREDIT,
        ),
        (500, body("api_error"), FaultKind.SERVER_ERROR),
        (529, body("overloaded_error", "Overloaded"), FaultKind.OVERLOADED),
    ],
)
def test_answers(status: int, error: Any, kind: FaultKind) -> None:
    assert fault(status, {}, json.dumps(error).encode(), 0.0, PROFILE).kind is kind


def test_the_wait_the_code_and_the_field_are_read() -> None:
    limited = body("rate_limit_error", details={"error_code": "rate"})
    found = fault(429, {"retry-after": "7"}, json.dumps(limited).encode(), 0.0, PROFILE)
    assert (found.retry_after, found.code) == (7.0, "rate")
    blamed = json.dumps(body("invalid_request_error", "messages.0.content.1: bad")).encode()
    assert fault(400, {}, blamed, 0.0, PROFILE).param == "messages"
    assert fault(502, {}, b"<html>", 0.0, PROFILE).kind is FaultKind.SERVER_ERROR


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (body("overloaded_error"), FaultKind.OVERLOADED),
        (body("rate_limit_error"), FaultKind.RATE_LIMITED),
        (body("api_error"), FaultKind.BAD_ANSWER),
        (body("invalid_request_error"), FaultKind.BAD_ANSWER),
        (body("invalid_request_error", "prompt is too long: 9"), FaultKind.CONTEXT_OVERFLOW),
        (body("billing_error"), FaultKind.OUT_OF_CREDIT),
        (body("authentication_error"), FaultKind.REFUSED_CREDENTIAL),
    ],
)
def test_events(error: Any, kind: FaultKind) -> None:
    assert fault_inside(error, PROFILE).kind is kind
