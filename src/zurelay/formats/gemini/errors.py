"""What an error of this format means: as an HTTP answer, in a stream, or as a blocked prompt.

Bodies have the shape that Chat Completions' reader knows already; here stands what only Google
has: `details` with a reason, a quota or the fields at fault. Codes: vendor's pages on errors and
rate limits, 2026-11-29.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.openai_chat import faults
from zurelay.wire import json

Json = dict[str, Any]

_CREDENTIAL = frozenset(
    {
        "API_KEY_INVALID",  # status 400
        "API_KEY_EXPIRED",
        "API_KEY_SERVICE_BLOCKED",
        "API_KEY_IP_ADDRESS_BLOCKED",
        "API_KEY_HTTP_REFERRER_BLOCKED",
        "ACCESS_TOKEN_EXPIRED",
        "ACCESS_TOKEN_TYPE_UNSUPPORTED",
        "CREDENTIALS_MISSING",
        "CONSUMER_INVALID",
        "CONSUMER_SUSPENDED",
        "SERVICE_DISABLED",
    }
)
_SIGNATURE = re.compile(r"thought.?signature", re.IGNORECASE)
_STEP = re.compile(r"[A-Za-z_]+(?:\[\d+\])*")

_FIELDS = {
    "max_output_tokens": "max_completion_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "candidate_count": "n",
    "stop_sequences": "stop",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "response_mime_type": "response_format",
    "response_json_schema": "response_format",
    "thinking_config": "reasoning_effort",
    "contents": "messages",
    "system_instruction": "messages",
    "tools": "tools",
    "tool_config": "tool_choice",
}
"""Field here -> field of Chat Completions, the common words of all formats."""


def fault(
    status: int, headers: Mapping[str, str], body: bytes, now: float, profile: Profile
) -> Fault:
    """The fault behind an answer with an error status."""
    found = faults.fault(status, headers, body, now, profile)
    return _finer(found, _error(body))


def fault_inside(answer: Json, profile: Profile) -> Fault:
    """The fault behind an `error` in an answer that began with 200."""
    error = answer.get("error")
    return _finer(faults.fault_inside(answer, profile), error if isinstance(error, dict) else {})


def blocked(feedback: Json) -> Fault:
    """The fault behind a prompt that was blocked before any model saw it."""
    reason = str(feedback.get("blockReason"))
    said = feedback.get("blockReasonMessage")
    message = said if isinstance(said, str) and said else "The prompt was blocked by a filter."
    return Fault(FaultKind.CONTENT_POLICY, message[: faults.LONGEST_MESSAGE], code=_word(reason))


def is_google(body: bytes) -> bool:
    """Whether an error body is in Google's shape."""
    return isinstance(_error(body).get("status"), str)


def _error(body: bytes) -> Json:
    """The `error` object; outside event streams it comes in a list of one."""
    try:
        value = json.decode(body.strip())
    except json.BadJson:
        return {}
    if isinstance(value, list):
        value = value[0] if value else {}
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {}


def _finer(found: Fault, error: Json) -> Fault:
    details = [item for item in _list(error.get("details")) if isinstance(item, dict)]
    reasons = {str(item["reason"]) for item in details if "reason" in item}
    said = error.get("status")
    word = next(iter(sorted(reasons)), said if isinstance(said, str) else None)
    changes: dict[str, Any] = {"code": _word(word) if word else found.code, "type": None}
    kind = _kind(found, reasons, said)
    if kind is FaultKind.RATE_LIMITED and _for_the_day(details):
        # Its RetryInfo speaks of the minute; the day ends at midnight in California.
        kind, changes["retry_after"] = FaultKind.OUT_OF_CREDIT, None
    return replace(found, kind=kind, param=_param(details), **changes)


def _kind(found: Fault, reasons: set[str], status: object) -> FaultKind:
    if found.kind in (FaultKind.CONTENT_POLICY, FaultKind.CONTEXT_OVERFLOW):
        return found.kind
    if "BILLING_DISABLED" in reasons:
        return FaultKind.OUT_OF_CREDIT
    if reasons & _CREDENTIAL or status in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        return FaultKind.REFUSED_CREDENTIAL
    if found.kind in (FaultKind.REJECTED, FaultKind.BAD_ANSWER):
        # The account's region or billing, never the request.
        if status == "FAILED_PRECONDITION":
            return FaultKind.REFUSED_CREDENTIAL
        # Proofs that this gateway chose to send, or not to: another route may need none.
        if _SIGNATURE.search(found.message):
            return FaultKind.MODEL_FAULT
    return _BY_STATUS.get(str(status), found.kind)


_BY_STATUS = {
    "RESOURCE_EXHAUSTED": FaultKind.RATE_LIMITED,
    "UNAVAILABLE": FaultKind.OVERLOADED,
    "NOT_FOUND": FaultKind.MODEL_MISSING,
}


def _for_the_day(details: Iterable[Json]) -> bool:
    """Whether a quota of the whole day is used up, as its id says."""
    return any(
        "PerDay" in str(violation.get("quotaId"))
        for item in details
        for violation in _list(item.get("violations"))
        if isinstance(violation, dict)
    )


def _param(details: Iterable[Json]) -> str | None:
    """The field at fault in common words; a place among contents is none among messages."""
    for item in details:
        for violation in _list(item.get("fieldViolations")):
            path = violation.get("field") if isinstance(violation, dict) else None
            for step in _STEP.findall(path) if isinstance(path, str) else []:
                known = _FIELDS.get(_snake(step.partition("[")[0]))
                if known is not None:
                    return known
    return None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(reason: str) -> str:
    return reason.lower()[:64]
