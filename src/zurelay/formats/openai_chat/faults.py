"""What an upstream's error answer means, in every dialect of Chat Completions.

Codes and types decide before the status: content policy and context overflow first, then our
credential or credit, then a fault of the model. Free text decides only about overflow, where many
hosts send nothing else; never about money, because a prompt could put its words there.
Shapes and codes: vendors' pages and public bug reports as of 2026-11-29.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.retry_after import capped, retry_after
from zurelay.wire import json

LONGEST_MESSAGE = 4096

_CONTENT = frozenset(
    {"content_filter", "content_policy_violation", "data_inspection_failed", "moderation_blocked"}
)
_OVERFLOW = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
)
_CREDIT = frozenset(
    {
        "insufficient_quota",
        "insufficient_credits",
        "insufficient_balance",
        "credit_balance_exhausted",
        "billing_hard_limit_reached",
        "billing_not_active",
        "exceeded_current_quota_error",
        "arrearage",
    }
)
_CREDENTIAL = frozenset({"invalid_api_key", "api_key_invalid", "authentication_error"})
_MISSING = frozenset({"model_not_found", "model_not_available", "model_not_exist", "1211"})
_MODEL_FAULT = frozenset({"tool_use_failed", "json_validate_failed", "modelerrorexception"})
_RATE = frozenset({"rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error"})
_OVERLOADED = frozenset(
    {
        "engine_overloaded_error",
        "overloaded_error",
        "server_is_overloaded",
        "server_busy",
        "unavailable_error",
        "slow_down",
        "overloaded",
    }
)
_OVERFLOW_TEXT = re.compile(
    r"prompt (?:is )?too long"
    r"|exceeds? the (?:model's )?(?:available )?context (?:window|size|length)"
    r"|maximum context length|input token count.{0,80}exceeds the maximum|maximum prompt length is"
    r"|reduce the length of the messages|longer than the model's context length"
    r"|greater than the context length|context window exceeds limit|exceeded model token limit"
    r"|range of input length should be|input is too long for requested model|too many tokens",
    re.IGNORECASE | re.DOTALL,
)
_NOT_OVERFLOW = re.compile(r"throttl|rate limit|per minute", re.IGNORECASE)
_SPEND_LIMIT = re.compile(r"_spend_limit_exceeded$")
_DELAY = re.compile(r"^(\d+(?:\.\d+)?)s$")
_OVERFLOW_STATUS = frozenset({200, 400, 403, 413, 422, 500})


@dataclass(frozen=True, slots=True)
class Told:
    """An error body's words, whatever its shape."""

    message: str = ""
    type: str | None = None
    code: str | None = None
    param: str | None = None
    moderated: bool = False
    failed_generation: bool = False
    delay: float | None = None
    empty: bool = False

    def is_one_of(self, words: frozenset[str]) -> bool:
        """Whether code or type is among `words`."""
        return bool(words) and any(
            word is not None and (word in words or word.lower() in words)
            for word in (self.code, self.type)
        )


def fault(
    status: int, headers: Mapping[str, str], body: bytes, now: float, profile: Profile
) -> Fault:
    """The fault behind an answer with an error status."""
    told = _read(body)
    wait = retry_after(headers, now)
    return _fault(_kind(status, told, profile), told, status, told.delay if wait is None else wait)


def fault_inside(error: object, profile: Profile) -> Fault:
    """The fault behind an error in an answer that began with 200.

    `error` is the parsed JSON that holds it. It moves on unless the provider's own code says that
    the request itself is at fault.
    """
    told = _shape(error)
    status = int(told.code) if told.code and told.code.isdigit() and len(told.code) == 3 else 200
    kind = _kind(status, told, profile)
    if kind in (FaultKind.REJECTED, FaultKind.SERVER_ERROR):
        kind = FaultKind.BAD_ANSWER
    return _fault(kind, told, 200, told.delay)


def _fault(kind: FaultKind, told: Told, status: int, wait: float | None) -> Fault:
    # A code that only repeats an HTTP status says nothing.
    code = None if told.code and told.code.isdigit() and len(told.code) == 3 else told.code
    return Fault(kind, told.message, told.param, code, told.type, status, wait)


def _kind(status: int, told: Told, profile: Profile) -> FaultKind:
    return _by_words(status, told, profile) or _by_status(status)


def _by_words(status: int, told: Told, profile: Profile) -> FaultKind | None:
    if told.moderated or told.is_one_of(_CONTENT) or told.is_one_of(profile.content_codes):
        return FaultKind.CONTENT_POLICY
    if _overflows(status, told, profile):
        return FaultKind.CONTEXT_OVERFLOW
    if _no_credit(status, told, profile):
        return FaultKind.OUT_OF_CREDIT
    if status < 500 and told.is_one_of(profile.rate_limit_codes):
        return FaultKind.RATE_LIMITED
    if told.is_one_of(_MISSING):
        return FaultKind.MODEL_MISSING
    if status < 500 and told.is_one_of(_CREDENTIAL):
        return FaultKind.REFUSED_CREDENTIAL
    if (
        status == 424
        or told.failed_generation
        or told.is_one_of(_MODEL_FAULT)
        or told.is_one_of(profile.model_fault_codes)
    ):
        return FaultKind.MODEL_FAULT
    if told.is_one_of(_OVERLOADED):
        return FaultKind.OVERLOADED
    if status == 429 and told.message.startswith("Request too large"):
        return FaultKind.REJECTED  # larger than the account's whole minute: waiting cannot help
    if status == 200 and told.is_one_of(_RATE):
        return FaultKind.RATE_LIMITED
    if status == 404 and told.param is not None and told.param != "model":
        return FaultKind.REJECTED  # something the request names is missing, not the model
    return None


def _by_status(status: int) -> FaultKind:
    if status == 200:
        return FaultKind.BAD_ANSWER
    known = {
        401: FaultKind.REFUSED_CREDENTIAL,
        402: FaultKind.OUT_OF_CREDIT,
        403: FaultKind.REFUSED_CREDENTIAL,
        404: FaultKind.MODEL_MISSING,
        408: FaultKind.TIMEOUT,
        429: FaultKind.RATE_LIMITED,
        434: FaultKind.REFUSED_CREDENTIAL,  # Zhipu: this account may not use the interface
        498: FaultKind.OVERLOADED,  # Groq: no flex capacity
        499: FaultKind.SERVER_ERROR,  # Groq: cancelled on its own side
        503: FaultKind.OVERLOADED,
        529: FaultKind.OVERLOADED,
    }.get(status)
    if known is not None:
        return known
    if status >= 500:
        return FaultKind.SERVER_ERROR
    return FaultKind.REJECTED if status >= 400 else FaultKind.BAD_ANSWER


def _overflows(status: int, told: Told, profile: Profile) -> bool:
    if told.is_one_of(_OVERFLOW) or told.is_one_of(profile.overflow_codes):
        return True
    if told.empty:
        return status in (400, 413) and "" in profile.overflow_codes
    if status == 413 and "token" in told.message.lower():
        return True
    return (
        status in _OVERFLOW_STATUS
        and _OVERFLOW_TEXT.search(told.message) is not None
        and _NOT_OVERFLOW.search(told.message) is None
    )


def _no_credit(status: int, told: Told, profile: Profile) -> bool:
    if any((status, word) in profile.out_of_credit for word in (told.code, told.type) if word):
        return True
    return told.is_one_of(_CREDIT) or bool(told.code and _SPEND_LIMIT.search(told.code))


def _read(body: bytes) -> Told:
    text = body.strip()
    if not text:
        return Told(empty=True)
    try:
        value = json.decode(text)
    except json.BadJson:
        readable = text.decode("utf-8", "replace")
        page = readable.lstrip().startswith("<")
        return Told("an HTML page in place of JSON" if page else readable[:LONGEST_MESSAGE])
    return _shape(value)


def _shape(value: object) -> Told:
    """Whatever shape an error comes in: wrapped, flat, a list, a text, FastAPI's `detail`."""
    if isinstance(value, list):
        value = value[0] if value else {}
    if isinstance(value, str):
        return Told(value[:LONGEST_MESSAGE])
    if not isinstance(value, dict):
        return Told()
    error = value.get("error")
    if isinstance(error, str):
        flat = _object(value)
        return Told(error[:LONGEST_MESSAGE], flat.type, flat.code, flat.param)
    if isinstance(error, dict) and error:
        return _object(error)
    if "detail" in value:
        return _detail(value["detail"], _object(value))
    return _object(value)


def _object(error: Mapping[str, Any]) -> Told:
    metadata = error.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    message = _text(error.get("message")) or _text(error.get("msg")) or ""
    inner = _raw(metadata)
    if inner:
        message = f"{message}: {inner}" if message else inner
    kind = _text(error.get("type"))
    return Told(
        message=message[:LONGEST_MESSAGE],
        type=kind or _text(error.get("status")),
        code=_code(error.get("code")),
        param=_text(error.get("param")),
        moderated="reasons" in metadata or "flagged_input" in metadata,
        failed_generation="failed_generation" in error,
        delay=_delay(error.get("details")),
    )


def _raw(metadata: Mapping[str, Any]) -> str:
    """The words of the host behind an aggregator (OpenRouter: `metadata.raw`)."""
    raw = metadata.get("raw")
    if isinstance(raw, str):
        try:
            raw = json.decode(raw.encode("utf-8", "surrogatepass"))
        except json.BadJson:
            return raw
    return _shape(raw).message if isinstance(raw, dict) else ""


def _detail(detail: object, flat: Told) -> Told:
    """FastAPI: a text, or a list of `{loc, msg, type}`."""
    if isinstance(detail, str):
        return Told(detail[:LONGEST_MESSAGE], flat.type, flat.code, flat.param)
    first = detail[0] if isinstance(detail, list) and detail else detail
    if not isinstance(first, dict):
        return flat
    place = first.get("loc")
    path = ""
    for step in place if isinstance(place, list) else []:
        if step != "body":
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    message = _text(first.get("msg")) or _text(first.get("message")) or flat.message
    if path:
        message = f"{path}: {message}"
    return Told(message[:LONGEST_MESSAGE], _text(first.get("type")), flat.code, path or None)


def _delay(details: object) -> float | None:
    """Google's RetryInfo, which its compatible endpoints keep: `{"retryDelay": "30s"}`."""
    for item in details if isinstance(details, list) else []:
        text = item.get("retryDelay") if isinstance(item, dict) else None
        found = _DELAY.match(text) if isinstance(text, str) else None
        if found:
            return capped(float(found[1]))
    return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _code(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(value)
