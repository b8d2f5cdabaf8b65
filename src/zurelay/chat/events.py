"""What happens while a model answers, in the order it happens.

The richest of the known streams: blocks open and close. Readers of poorer formats keep the state
that opens and closes; writers of poorer formats leave things out. A stream that ends before
`Stopped` is a fault, so a broken answer can never end like a good one.
"""

from dataclasses import dataclass
from typing import Literal

from zurelay.chat.parts import Part
from zurelay.chat.usage import Usage

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's text, in choice `choice`."""

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the reasoning the model shares."""

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ThinkingStarted:
    """A reasoning block began; it may stay silent for minutes. A sign of life, not a token."""


@dataclass(frozen=True, slots=True)
class ThinkingSigned:
    """The current reasoning block is complete and carries this proof.

    `call_id` names the tool call that the proof hangs on, where a format hangs it there.
    """

    signature: str
    origin: str
    redacted: bool = False
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """More of the model's own words of refusal."""

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool call began. `index` counts the calls of its choice from 0."""

    index: int
    id: str
    name: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the arguments of call `index`; pieces join to one string."""

    index: int
    arguments: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """The provider's count so far; the last one holds."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Stopped:
    """The choice is complete. `sequence` is the stop sequence that ended it, where known."""

    reason: FinishReason
    choice: int = 0
    sequence: str | None = None


Event = (
    TextDelta
    | ThinkingDelta
    | ThinkingStarted
    | ThinkingSigned
    | RefusalDelta
    | ToolCallStarted
    | ToolCallDelta
    | UsageSeen
    | Stopped
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One whole answer; the fold of its events."""

    parts: tuple[Part, ...]
    finish_reason: FinishReason
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer to a plain request."""

    choices: tuple[Choice, ...]
    usage: Usage | None = None
