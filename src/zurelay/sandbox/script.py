"""When what of an answer happens: a draft cut to its limits and laid out in time.

Pure and deterministic. Knows neutral events, not their bytes; knows times as seconds since the
request began, not a clock.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from zurelay.chat.events import (
    Event,
    RefusalDelta,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from zurelay.chat.problems import Problem
from zurelay.chat.request import Request
from zurelay.chat.usage import Usage
from zurelay.sandbox.behaviour import MOST_SECONDS, MOST_TOKENS, Behaviour
from zurelay.sandbox.draft import Draft
from zurelay.sandbox.errors import told
from zurelay.sandbox.tokens import pieces, prompt_tokens


class Ending(StrEnum):
    """How an answer is left."""

    WHOLE = "whole"
    CUT = "cut"  # the connection is closed before the answer's end
    STALL = "stall"  # silence, and the connection closed in the end
    ERROR = "error"  # an error event, then the connection is closed


@dataclass(frozen=True, slots=True)
class Beat:
    """One event of the answer and when it is due."""

    at: float
    event: Event


@dataclass(frozen=True, slots=True)
class Script:
    """An answer in time.

    Attributes:
        begins_at: when the first token is due.
        ends_at: when the last byte is due or the connection closes.
        silent: nothing is sent at all, not even a status.
        usage: the counts to report.
        ending: how it ends; `CUT`, `STALL` and `ERROR` answers have no `Stopped` event.
        failure: what an `ERROR` ending says.
    """

    beats: tuple[Beat, ...]
    begins_at: float
    ends_at: float
    usage: Usage
    ending: Ending = Ending.WHOLE
    silent: bool = False
    failure: Problem | None = None


_ENDINGS: Mapping[str, Ending] = {
    "cut": Ending.CUT,
    "stall": Ending.STALL,
    "error": Ending.ERROR,
}


def script(behaviour: Behaviour, draft: Draft, request: Request) -> Script:
    """Lay `draft` out as `behaviour` and the request's own limits say."""
    ending = _ENDINGS.get(behaviour.model, Ending.WHOLE)
    limit = max(1, MOST_TOKENS // request.n)
    if request.max_output is not None:
        limit = min(limit, request.max_output)
    tokens, stopped = _cut(draft, limit, request.stop)
    if ending is not Ending.WHOLE:
        tokens = tokens[: behaviour.after or 0]
    begins_at = behaviour.first
    pace = _pace(behaviour, len(tokens))
    last_at = begins_at + max(0, len(tokens) - 1) * pace
    beats = [
        Beat(begins_at + place * pace, _in_choice(token, choice))
        for place, token in enumerate(tokens)
        for choice in range(request.n)
    ]
    if ending is Ending.WHOLE:
        reason, sequence = stopped.reason, stopped.sequence
        beats += [Beat(last_at, Stopped(reason, index, sequence)) for index in range(request.n)]
    return Script(
        beats=tuple(beats),
        begins_at=begins_at,
        ends_at=last_at + (MOST_SECONDS if ending is Ending.STALL else 0),
        usage=draft.usage or _counted(request, tokens),
        ending=ending,
        silent=ending in (Ending.CUT, Ending.STALL) and not behaviour.after,
        failure=told(behaviour) if ending is Ending.ERROR else None,
    )


def _pace(behaviour: Behaviour, tokens: int) -> float:
    """Seconds between two tokens, such that the whole answer stays below the bound."""
    if behaviour.tps is None or tokens < 2:
        return 0.0
    return min(1 / behaviour.tps, (MOST_SECONDS - behaviour.first) / (tokens - 1))


def _cut(draft: Draft, limit: int, stop: tuple[str, ...]) -> tuple[list[Event], Stopped]:
    """The tokens of one choice, as far as limit and stop sequences let them come."""
    text, sequence = _until_stop(draft.text, stop)
    tokens: list[Event] = [ThinkingDelta(piece) for piece in pieces(draft.thinking)]
    tokens += [RefusalDelta(piece) for piece in pieces(draft.refusal)]
    tokens += [TextDelta(piece) for piece in pieces(text)]
    if sequence is None:
        tokens += _call_tokens(draft)
    if len(tokens) > limit:
        return tokens[:limit], Stopped("length")
    if sequence is not None:
        return tokens, Stopped("stop", sequence=sequence)
    return tokens, Stopped("tool_calls" if draft.calls else "stop")


def _call_tokens(draft: Draft) -> Iterator[Event]:
    for index, call in enumerate(draft.calls):
        yield ToolCallStarted(index, call.id, call.name)
        for piece in pieces(call.arguments):
            yield ToolCallDelta(index, piece)


def _until_stop(text: str, stop: tuple[str, ...]) -> tuple[str, str | None]:
    """The text before the first stop sequence in it, and which one that is."""
    places = [(place, word) for word in stop if word and (place := text.find(word)) >= 0]
    if not places:
        return text, None
    place, word = min(places)
    return text[:place], word


def _in_choice(token: Event, choice: int) -> Event:
    if choice == 0:
        return token
    match token:
        case TextDelta(text):
            return TextDelta(text, choice)
        case ThinkingDelta(text):
            return ThinkingDelta(text, choice)
        case RefusalDelta(text):
            return RefusalDelta(text, choice)
        case ToolCallStarted(index, call_id, name):
            return ToolCallStarted(index, f"{call_id}_{choice}", name, choice)
        case ToolCallDelta(index, arguments):
            return ToolCallDelta(index, arguments, choice)
        case _:
            return token


def _counted(request: Request, tokens: list[Event]) -> Usage:
    thinking = sum(1 for token in tokens if isinstance(token, ThinkingDelta))
    return Usage(
        input=prompt_tokens(request),
        output=len(tokens) * request.n,
        reasoning=thinking * request.n,
    )
