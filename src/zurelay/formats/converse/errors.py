"""What an error of Bedrock means: as an HTTP answer, or as an exception inside a stream.

The exception's name decides; it stands in a header, and what it leaves open the text decides.
Names: vendor's API reference and service model, 2026-11-29.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.openai_chat import faults
from zurelay.formats.retry_after import LONGEST
from zurelay.wire import json
from zurelay.wire.event_stream import Message

_BY_NAME = {
    "throttling": FaultKind.RATE_LIMITED,  # "Too many tokens" is a rate here, no overflow
    "throttled": FaultKind.RATE_LIMITED,
    "toomanyrequests": FaultKind.RATE_LIMITED,
    "servicequotaexceeded": FaultKind.RATE_LIMITED,  # a 400 that means "later"
    "modelnotready": FaultKind.OVERLOADED,  # a 429: the model is being loaded
    "serviceunavailable": FaultKind.OVERLOADED,
    "internalserver": FaultKind.SERVER_ERROR,
    "internalfailure": FaultKind.SERVER_ERROR,
    "modeltimeout": FaultKind.TIMEOUT,
    "modelerror": FaultKind.MODEL_FAULT,
    "modelstreamerror": FaultKind.MODEL_FAULT,
    "resourcenotfound": FaultKind.MODEL_MISSING,
    "accessdenied": FaultKind.REFUSED_CREDENTIAL,
    "unrecognizedclient": FaultKind.REFUSED_CREDENTIAL,
    "invalidsignature": FaultKind.REFUSED_CREDENTIAL,
    "incompletesignature": FaultKind.REFUSED_CREDENTIAL,
    "missingauthenticationtoken": FaultKind.REFUSED_CREDENTIAL,
    "invalidclienttokenid": FaultKind.REFUSED_CREDENTIAL,
    "expiredtoken": FaultKind.REFUSED_CREDENTIAL,
    "notauthorized": FaultKind.REFUSED_CREDENTIAL,
    "optinrequired": FaultKind.REFUSED_CREDENTIAL,
}
_NO_MODEL = re.compile(
    r"model identifier is invalid"
    r"|on-demand throughput isn.t supported"
    r"|model version has reached the end of its life"
    r"|not found for model|doesn.t support the model|model isn.t supported",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"input is too long|prompt is too long|too many input tokens|exceeds? (?:the )?context"
    r"|maximum context length|context length|input length and `?max_tokens`? exceed",
    re.IGNORECASE,
)
_BLOCKED = re.compile(r"blocked by (?:our )?content filter|content filtering policy", re.IGNORECASE)
_UNPAID = re.compile(r"INVALID_PAYMENT_INSTRUMENT|payment", re.IGNORECASE)
_IN_MOTION = "MPAgreementBeingCreated"
"""The account is being subscribed to a model: a 403 that passes within a quarter of an hour."""


def fault(
    status: int, headers: Mapping[str, str], body: bytes, now: float, profile: Profile
) -> Fault:
    """The fault behind an answer with an error status."""
    found = faults.fault(status, headers, body, now, profile)
    return _finer(found, headers.get("x-amzn-errortype") or _name_in(body))


def fault_told(message: Message, profile: Profile) -> Fault | None:
    """The fault that a message of an event stream tells of; None for one that is an event."""
    headers = message.headers
    kind = headers.get(":message-type", "event")
    if kind == "exception":
        return fault_inside(headers.get(":exception-type", ""), message.payload, profile)
    if kind == "error":
        told = json.encode({"message": headers.get(":error-message", "")})
        return fault_inside(headers.get(":error-code", ""), told, profile)
    return None


def fault_inside(name: str, payload: bytes, profile: Profile) -> Fault:
    """The fault behind an exception called `name` in an answer that began with 200."""
    found = faults.fault(200, {}, payload, 0.0, profile)
    return _finer(found, name or _name_in(payload))


def _name_in(body: bytes) -> str:
    try:
        value = json.decode(body)
    except json.BadJson:
        return ""
    name = value.get("__type") if isinstance(value, dict) else None
    return name if isinstance(name, str) else ""


def _finer(found: Fault, told: str) -> Fault:
    """`told` is `Name:uri`, `namespace#Name` or `name`, with or without `Exception` at its end."""
    name = told.partition(":")[0].rpartition("#")[2]
    kind = _kind(found, name.lower().removesuffix("exception"))
    wait = found.retry_after
    if _IN_MOTION in name or _IN_MOTION in found.message:
        kind, wait = FaultKind.OVERLOADED, LONGEST if wait is None else wait
    return replace(found, kind=kind, type=name or found.type, retry_after=wait)


def _kind(found: Fault, name: str) -> FaultKind:
    if name == "accessdenied" and _UNPAID.search(found.message):
        return FaultKind.OUT_OF_CREDIT
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    if name == "validation" or (not name and found.kind is FaultKind.REJECTED):
        return _of_request(found.message)
    return found.kind


def _of_request(message: str) -> FaultKind:
    if _OVERFLOW.search(message):
        return FaultKind.CONTEXT_OVERFLOW
    if _BLOCKED.search(message):
        return FaultKind.CONTENT_POLICY
    return FaultKind.MODEL_MISSING if _NO_MODEL.search(message) else FaultKind.REJECTED
