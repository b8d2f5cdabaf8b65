"""Google's errors."""

import json
from typing import Any

import pytest

from tests.formats.gemini.gemini import STUDIO
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.gemini.errors import fault


def of(status: int, body: Any) -> Fault:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return fault(status, {}, raw, 0.0, STUDIO)


def told(status: int, word: str, message: str = "m", **more: Any) -> Fault:
    return of(status, {"error": {"code": status, "message": message, "status": word, **more}})


def info(reason: str) -> dict[str, Any]:
    return {"details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]}


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (told(400, "INVALID_ARGUMENT"), FaultKind.REJECTED),
        (told(400, "INVALID_ARGUMENT", **info("API_KEY_INVALID")), FaultKind.REFUSED_CREDENTIAL),
        (told(400, "FAILED_PRECONDITION"), FaultKind.REFUSED_CREDENTIAL),
        (told(401, "UNAUTHENTICATED"), FaultKind.REFUSED_CREDENTIAL),
        (told(403, "PERMISSION_DENIED", **info("SERVICE_DISABLED")), FaultKind.REFUSED_CREDENTIAL),
        (told(403, "PERMISSION_DENIED", **info("BILLING_DISABLED")), FaultKind.OUT_OF_CREDIT),
        (told(404, "NOT_FOUND"), FaultKind.MODEL_MISSING),
        (told(429, "RESOURCE_EXHAUSTED"), FaultKind.RATE_LIMITED),
        (told(499, "CANCELLED"), FaultKind.SERVER_ERROR),
        (told(500, "INTERNAL"), FaultKind.SERVER_ERROR),
        (told(503, "UNAVAILABLE"), FaultKind.OVERLOADED),
        (told(504, "DEADLINE_EXCEEDED"), FaultKind.SERVER_ERROR),
        (
            told(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"),
            FaultKind.CONTEXT_OVERFLOW,
        ),
        (told(400, "INVALID_ARGUMENT", "Invalid thought signature."), FaultKind.MODEL_FAULT),
        (
            told(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in x"),
            FaultKind.MODEL_FAULT,
        ),
        (told(500, "UNAVAILABLE"), FaultKind.OVERLOADED),
        (of(502, b"<html>"), FaultKind.SERVER_ERROR),
        (of(400, b""), FaultKind.REJECTED),
        (of(400, []), FaultKind.REJECTED),
        (of(400, {"error": "text"}), FaultKind.REJECTED),
        (of(429, [{"error": {"status": "RESOURCE_EXHAUSTED"}}]), FaultKind.RATE_LIMITED),
    ],
)
def test_what_an_error_means(found: Fault, kind: FaultKind) -> None:
    assert found.kind is kind


QUOTA = {"@type": "type.googleapis.com/google.rpc.QuotaFailure"}
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}


@pytest.mark.parametrize(
    ("quota", "kind", "wait"),
    [
        ("RequestsPerMinutePerProject", FaultKind.RATE_LIMITED, 34.0),
        ("RequestsPerDayPerProject-FreeTier", FaultKind.OUT_OF_CREDIT, None),
    ],
)
def test_a_quota_of_the_day_is_no_matter_of_seconds(
    quota: str, kind: FaultKind, wait: float | None
) -> None:
    details = [{**QUOTA, "violations": [{"quotaId": quota}]}, RETRY]
    found = told(429, "RESOURCE_EXHAUSTED", details=details)
    assert (found.kind, found.retry_after) == (kind, wait)


@pytest.mark.parametrize(
    ("field", "param"),
    [
        ("generation_config.max_output_tokens", "max_completion_tokens"),
        ("generationConfig.topP", "top_p"),
        ("contents[2].parts[0].inline_data", "messages"),
        ("tools[0].function_declarations[1].name", "tools"),
        ("something.else", None),
        (3, None),
    ],
)
def test_the_field_at_fault_is_told_in_common_words(field: Any, param: str | None) -> None:
    details = [{"fieldViolations": [None, {"field": field}]}, 3]
    assert told(400, "INVALID_ARGUMENT", details=details).param == param


def test_callers_read_the_reason_as_code() -> None:
    found = told(400, "INVALID_ARGUMENT", **info("SOME_REASON"))
    assert (found.code, found.type) == ("some_reason", None)
    assert told(400, "INVALID_ARGUMENT").code == "invalid_argument"
