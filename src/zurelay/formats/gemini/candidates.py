"""The parsed pieces of one answer, as neutral events. Each piece holds only what is new.

Knows no frames. Finish reasons and fields: vendor's API reference, 2026-11-29.
"""

from typing import Any

from zurelay.chat.events import (
    Event,
    FinishReason,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext
from zurelay.formats.gemini import ORIGIN, errors
from zurelay.formats.gemini.usage import read as read_usage
from zurelay.formats.openai_chat.faults import LONGEST_MESSAGE
from zurelay.formats.origin import origin
from zurelay.formats.tool_ids import minter
from zurelay.wire import json

Json = dict[str, Any]

_LENGTH = frozenset({"MAX_TOKENS", "CONTINUATION"})
_FILTERED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
    }
)
_BROKEN = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "MALFORMED_RESPONSE",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
    }
)
"""The model failed; what it was about to say is missing."""


class CandidateReader:
    """Reads the pieces of one answer, in order.

    Attributes:
        begun: something was told.
        finished: every answer that began has its finish reason.
    """

    def __init__(self, context: AnswerContext) -> None:
        self._profile = context.profile
        self._origin = origin(context.profile.realm, ORIGIN)
        self._names = context.tool_names
        self._mint = minter(context.answer_id)
        self._ids: set[str] = set()
        self._calls: dict[int, int] = {}
        self._told: set[int] = set()
        self._open: set[int] = set()
        self._done: set[int] = set()
        self._usage: Usage | None = None

    @property
    def begun(self) -> bool:
        """Something was told."""
        return bool(self._told)

    @property
    def finished(self) -> bool:
        """Every answer that began has its finish reason."""
        return bool(self._done) and not self._open

    @property
    def over(self) -> bool:
        """Never: there is no end mark, and usage may come with any piece."""
        return False

    def event(self, piece: Json) -> list[Event] | Fault:
        """What one piece says."""
        if piece.get("error"):
            return errors.fault_inside(piece, self._profile)
        out: list[Event] = []
        stops: list[Event] = []
        for place, candidate in enumerate(_objects(piece.get("candidates"))):
            told = self._candidate(candidate, place, out)
            if isinstance(told, Fault):
                return told
            stops += told
        feedback = piece.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason") and not self._told:
            return errors.blocked(feedback)
        usage = read_usage(piece.get("usageMetadata"))
        if usage is not None and usage != self._usage:
            self._usage = usage
            out.append(UsageSeen(usage))
        return [*out, *stops]

    def _candidate(self, candidate: Json, place: int, out: list[Event]) -> list[Event] | Fault:
        index = candidate.get("index", place)
        choice = index if isinstance(index, int) and not isinstance(index, bool) else place
        if choice in self._done:
            return []
        self._open.add(choice)
        content = candidate.get("content")
        for part in _objects(content.get("parts")) if isinstance(content, dict) else ():
            out += self._part(part, choice)
        reason = candidate.get("finishReason")
        if not reason or reason == "FINISH_REASON_UNSPECIFIED":
            return []
        ended = self._ended(str(reason), choice)
        if ended is None:
            return _broken(candidate, str(reason))
        self._open.discard(choice)
        self._done.add(choice)
        return [Stopped(ended, choice)]

    def _ended(self, reason: str, choice: int) -> FinishReason | None:
        """Gemini says STOP for calls too. None for an answer that is none."""
        if reason in _LENGTH:
            return "length"
        if reason in _FILTERED:
            return "content_filter"
        if reason in _BROKEN or (reason != "STOP" and choice not in self._told):
            return None
        return "tool_calls" if self._calls.get(choice) else "stop"

    def _part(self, part: Json, choice: int) -> list[Event]:
        text, call = part.get("text"), part.get("functionCall")
        if part.get("thought") is True:
            if isinstance(text, str) and text:
                self._told.add(choice)
                return [ThinkingDelta(text, choice)]
            return [ThinkingStarted()]
        if isinstance(call, dict):
            return self._call(call, part, choice)
        out: list[Event] = []
        if isinstance(text, str) and text:
            self._told.add(choice)
            out.append(TextDelta(text, choice))
        return out + self._proof(part, choice, None)

    def _proof(self, part: Json, choice: int, call_id: str | None) -> list[Event]:
        """Also an empty text may carry one. Proofs of further answers have no place."""
        proof = part.get("thoughtSignature")
        if not isinstance(proof, str) or not proof or choice:
            return []
        return [ThinkingSigned(proof, self._origin, redacted=True, call_id=call_id)]

    def _call(self, call: Json, part: Json, choice: int) -> list[Event]:
        """Calls come whole. Older models give no ids."""
        name = call.get("name")
        if not isinstance(name, str) or not name:
            return []
        self._told.add(choice)
        index = self._calls.get(choice, 0)
        self._calls[choice] = index + 1
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in self._ids:
            call_id = self._mint(choice, index)
        self._ids.add(call_id)
        args = call.get("args")
        arguments = json.encode(args if isinstance(args, dict) else {}).decode()
        return [
            *self._proof(part, choice, call_id),
            ToolCallStarted(index, call_id, self._names.get(name, name), choice),
            ToolCallDelta(index, arguments, choice),
        ]


def _broken(candidate: Json, reason: str) -> Fault:
    said = candidate.get("finishMessage")
    message = said if isinstance(said, str) and said else f"the model ended with {reason}"
    return Fault(
        FaultKind.MODEL_FAULT, message[:LONGEST_MESSAGE], code=reason.lower()[:64], status=200
    )


def _objects(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
