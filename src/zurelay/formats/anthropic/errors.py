"""What an error of a Messages upstream means, as an answer or as an event of a stream.

Types and codes: vendor's page on errors, 2026-11-29. Bodies have the shape that is known to the
reader of Chat Completions' errors; here stands what only this format has.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.openai_chat import faults
from zurelay.wire import json

_NO_CREDIT = ("Your credit balance is too low", "You have reached your specified")
"""Beginnings of messages that come as a 400 and mean our account's money. Nobody's prompt can
stand there."""

_SPENT = frozenset({"enforced_spend_limit_reached", "spend_limit_reached"})
_BY_TYPE = {
    "overloaded_error": FaultKind.OVERLOADED,
    "rate_limit_error": FaultKind.RATE_LIMITED,
    "billing_error": FaultKind.OUT_OF_CREDIT,
    "authentication_error": FaultKind.REFUSED_CREDENTIAL,
    "permission_error": FaultKind.REFUSED_CREDENTIAL,
    "not_found_error": FaultKind.MODEL_MISSING,
    "timeout_error": FaultKind.TIMEOUT,
}
_FIELD = re.compile(
    r"^(max_tokens|messages|system|tools|tool_choice|stop_sequences|thinking)\b[\w.]*: "
)


def fault(
    status: int, headers: Mapping[str, str], body: bytes, now: float, profile: Profile
) -> Fault:
    """The fault behind an answer with an error status."""
    found = faults.fault(status, headers, body, now, profile)
    try:
        found = _coded(found, json.decode(body))
    except json.BadJson:
        return found
    if found.type == "billing_error" and found.kind is not FaultKind.OUT_OF_CREDIT:
        found = replace(found, kind=FaultKind.OUT_OF_CREDIT)
    return _finer(found)


def fault_inside(error: object, profile: Profile) -> Fault:
    """The fault behind an `error` event, or an error body, of an answer that began with 200."""
    found = _coded(faults.fault_inside(error, profile), error)
    kind = _BY_TYPE.get(found.type or "")
    if kind is not None and found.kind is FaultKind.BAD_ANSWER:
        found = replace(found, kind=kind)
    return _finer(found)


def _coded(found: Fault, body: object) -> Fault:
    """The fault with the machine code, which stands in `error.details`."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    code = details.get("error_code") if isinstance(details, dict) else None
    return replace(found, code=code) if isinstance(code, str) and not found.code else found


def _finer(found: Fault) -> Fault:
    if found.code in _SPENT or found.message.startswith(_NO_CREDIT):
        return replace(found, kind=FaultKind.OUT_OF_CREDIT)
    blamed = _FIELD.match(found.message)
    if found.param is None and blamed:
        return replace(found, param=blamed[1])
    return found
