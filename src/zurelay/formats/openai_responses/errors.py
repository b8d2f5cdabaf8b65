"""What an error of a Responses upstream means: as an HTTP answer, an event, or a failed response.

Bodies are those of Chat Completions; here stands what only this format has. Codes: vendor's API
reference, 2026-11-29.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.openai_chat import faults
from zurelay.formats.retry_after import capped

_POLICY = frozenset(
    {
        "invalid_prompt",  # the prompt was flagged
        "bio_policy",
        "cyber_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
    }
)
_REQUESTS = frozenset(
    {
        "invalid_image",
        "invalid_image_format",
        "invalid_base64_image",
        "invalid_image_url",
        "image_too_large",
        "image_too_small",
        "image_parse_error",
        "invalid_image_mode",
        "image_file_too_large",
        "unsupported_image_media_type",
        "empty_image_file",
        "failed_to_download_image",
        "image_file_not_found",
    }
)
_WAIT = re.compile(r"try again in (\d+(?:\.\d+)?)\s?(ms|s)\b")
SUMMARY = "reasoning.summary"
"""The field that accounts without a verified organization may not send."""

_FIELDS = (
    ("max_output_tokens", "max_completion_tokens"),
    ("reasoning.effort", "reasoning_effort"),
    ("text.format", "response_format"),
    ("text.verbosity", "verbosity"),
    ("input", "messages"),
    ("instructions", "messages"),
)
"""Field here -> field of Chat Completions, the common words of all formats."""


def fault(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    now: float,
    profile: Profile,
    *,
    own_words: bool = False,
) -> Fault:
    """The fault behind an answer with an error status.

    `own_words`: the caller speaks this format too, and knows its fields by the same names.
    """
    found = faults.fault(status, headers, body, now, profile)
    finer = _finer(found)
    return replace(finer, param=found.param) if own_words else finer


def fault_inside(error: object, profile: Profile) -> Fault:
    """The fault behind `response.error` or an `error` event of an answer that began with 200."""
    known: dict[str, Any] = {}
    if isinstance(error, dict):
        inner = error.get("error")
        known = inner if isinstance(inner, dict) else error
        known = {name: value for name, value in known.items() if value != "error"}
    return _finer(faults.fault_inside({"error": known}, profile))


def _finer(found: Fault) -> Fault:
    changes: dict[str, Any] = {}
    if found.code in _POLICY:
        changes["kind"] = FaultKind.CONTENT_POLICY
    elif found.code in _REQUESTS:
        changes["kind"] = FaultKind.REJECTED
    elif found.param == SUMMARY and found.kind is FaultKind.REJECTED:
        # What we added, not what the caller asked: accounts without a verified organization.
        changes |= {"kind": FaultKind.MODEL_FAULT, "lacks": "thinking_summary"}
    if found.retry_after is None and found.kind is FaultKind.RATE_LIMITED:
        told = _WAIT.search(found.message)
        if told:
            changes["retry_after"] = capped(float(told[1]) / (1000 if told[2] == "ms" else 1))
    if found.param is not None:
        changes["param"] = _in_common_words(found.param)
    return replace(found, **changes) if changes else found


def _in_common_words(param: str) -> str:
    for here, common in _FIELDS:
        if param == here:
            return common
        if param.startswith((f"{here}[", f"{here}.")):
            # Places among items are not places among messages.
            return common if common == "messages" else common + param[len(here) :]
    return param
