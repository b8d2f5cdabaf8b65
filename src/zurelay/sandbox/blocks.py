"""An answer's events gathered into blocks, for formats whose answers are lists of blocks.

Knows no wire format.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from zurelay.chat.events import (
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.sandbox.script import Beat

Kind = Literal["thinking", "text", "refusal", "call"]


@dataclass(slots=True)
class Block:
    """One stretch of an answer.

    Attributes:
        at: when it begins, in seconds since the request began.
        pieces: its tokens with their times; of a call, its arguments.
        call_id: of a call.
        name: of a call's tool.
        done: whether it is whole: something follows it, or the answer's end.
    """

    kind: Kind
    at: float
    pieces: list[tuple[float, str]] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    done: bool = False

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(piece for _, piece in self.pieces)

    @property
    def ends_at(self) -> float:
        """When its last token is due."""
        return self.pieces[-1][0] if self.pieces else self.at


@dataclass(frozen=True, slots=True)
class Gathered:
    """One choice of an answer; `stopped` is None where it never ends in order."""

    blocks: tuple[Block, ...]
    stopped: Stopped | None


def gather(beats: Iterable[Beat], choice: int = 0) -> Gathered:
    """The blocks of one choice, in order."""
    found: list[Block] = []
    stopped = None

    def grow(kind: Kind, at: float, piece: str) -> None:
        if not found or found[-1].kind != kind:
            found.append(Block(kind, at))
        found[-1].pieces.append((at, piece))

    for beat in beats:
        match beat.event:
            case TextDelta(piece, index) if index == choice:
                grow("text", beat.at, piece)
            case ThinkingDelta(piece, index) if index == choice:
                grow("thinking", beat.at, piece)
            case RefusalDelta(piece, index) if index == choice:
                grow("refusal", beat.at, piece)
            case ToolCallStarted(_, call_id, name, index) if index == choice:
                found.append(Block("call", beat.at, call_id=call_id, name=name))
            case ToolCallDelta(_, piece, index) if index == choice:
                found[-1].pieces.append((beat.at, piece))
            case Stopped() as event if event.choice == choice:
                stopped = event
            case _:
                pass
    for block in found if stopped else found[:-1]:
        block.done = True
    return Gathered(tuple(found), stopped)
