"""What Bedrock's errors mean."""

import json

import pytest

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.converse.errors import fault, fault_inside, fault_told
from zurelay.wire.event_stream import Message

URI = "http://internal.amazon.com/coral/com.amazon.bedrock/"


def told(status: int, name: str, message: str = "x", **headers: str) -> Fault:
    body = json.dumps({"message": message}).encode()
    found = {"x-amzn-errortype": f"{name}:{URI}", **headers} if name else headers
    return fault(status, found, body, 0.0, Profile())


@pytest.mark.parametrize(
    ("status", "name", "message", "kind"),
    [
        (429, "ThrottlingException", "Too many tokens, please wait before trying again.", "RATE_LIMITED"),
        (400, "ThrottlingException", "Too many tokens, please wait before trying again.", "RATE_LIMITED"),
        (400, "ServiceQuotaExceededException", "x", "RATE_LIMITED"),
        (429, "ModelNotReadyException", "x", "OVERLOADED"),
        (503, "ServiceUnavailableException", "x", "OVERLOADED"),
        (500, "InternalServerException", "x", "SERVER_ERROR"),
        (408, "ModelTimeoutException", "x", "TIMEOUT"),
        (424, "ModelErrorException", "x", "MODEL_FAULT"),
        (424, "ModelStreamErrorException", "x", "MODEL_FAULT"),
        (404, "ResourceNotFoundException", "x", "MODEL_MISSING"),
        (403, "AccessDeniedException", "You don't have access to the model", "REFUSED_CREDENTIAL"),
        (403, "AccessDeniedException", "INVALID_PAYMENT_INSTRUMENT: A valid one", "OUT_OF_CREDIT"),
        (403, "UnrecognizedClientException", "The security token is invalid", "REFUSED_CREDENTIAL"),
        (400, "ExpiredTokenException", "x", "REFUSED_CREDENTIAL"),
        (403, "InvalidSignatureException", "x", "REFUSED_CREDENTIAL"),
        (400, "ValidationException", "Input is too long for requested model.", "CONTEXT_OVERFLOW"),
        (400, "ValidationException", "prompt is too long: 9 tokens > 8 maximum", "CONTEXT_OVERFLOW"),
        (400, "ValidationException", "The provided model identifier is invalid.", "MODEL_MISSING"),
        (400, "ValidationException", "Invocation of model ID x with on-demand throughput isn\u2019t supported.", "MODEL_MISSING"),
        (400, "ValidationException", "The value at messages.0.content is empty", "REJECTED"),
        (400, "", "Input is too long for requested model.", "CONTEXT_OVERFLOW"),
        (400, "NewException", "x", "REJECTED"),
        (403, "", "x", "REFUSED_CREDENTIAL"),
        (502, "", "x", "SERVER_ERROR"),
    ],
)  # fmt: skip
def test_the_name_decides_and_then_the_text(
    status: int, name: str, message: str, kind: str
) -> None:
    found = told(status, name, message)
    assert found.kind is FaultKind[kind]
    assert (found.message, found.status) == (message, status)
    assert found.type == (name or None)


def test_the_name_may_stand_in_the_body() -> None:
    body = json.dumps({"__type": "com.amazon.coral.service#ThrottlingException"}).encode()
    assert fault(400, {}, body, 0.0, Profile()).kind is FaultKind.RATE_LIMITED
    assert fault(500, {}, b"<html>", 0.0, Profile()).kind is FaultKind.SERVER_ERROR


def test_a_subscription_on_its_way_is_waited_for() -> None:
    found = told(403, "AccessDeniedException", "MPAgreementBeingCreated: try again in 15 minutes")
    assert (found.kind, found.retry_after) == (FaultKind.OVERLOADED, 900.0)


def test_a_wait_that_the_upstream_names_is_kept() -> None:
    assert told(429, "ThrottlingException", **{"retry-after": "7"}).retry_after == 7.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("throttlingException", FaultKind.RATE_LIMITED),
        ("modelStreamErrorException", FaultKind.MODEL_FAULT),
        ("internalServerException", FaultKind.SERVER_ERROR),
        ("serviceUnavailableException", FaultKind.OVERLOADED),
        ("validationException", FaultKind.REJECTED),
        ("neverSeenException", FaultKind.BAD_ANSWER),
    ],
)
def test_exceptions_inside_a_stream_mean_the_same(name: str, kind: FaultKind) -> None:
    found = fault_inside(name, b'{"message": "m"}', Profile())
    assert (found.kind, found.message, found.status) == (kind, "m", 200)


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        (
            {":message-type": "exception", ":exception-type": "throttlingException"},
            FaultKind.RATE_LIMITED,
        ),
        ({":message-type": "error", ":error-code": "internalFailure"}, FaultKind.SERVER_ERROR),
        ({":message-type": "event", ":event-type": "messageStop"}, None),
        ({}, None),
    ],
)
def test_a_message_that_is_no_event_is_a_fault(
    headers: dict[str, str], kind: FaultKind | None
) -> None:
    told = fault_told(Message(headers, b"{}"), Profile())
    assert (told and told.kind) == kind
