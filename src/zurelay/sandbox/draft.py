"""What each sandbox model answers, before any limit cuts it and without any timing.

One function per model in one table. Knows no wire format: it reads and writes the neutral
vocabulary of `chat`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle, islice

import msgspec

from zurelay.chat.effort import SCALE
from zurelay.chat.parts import Part, Text, ToolCall, ToolResult
from zurelay.chat.problems import Refused, invalid_value
from zurelay.chat.request import Request, Tool
from zurelay.chat.usage import Usage
from zurelay.sandbox.behaviour import Behaviour
from zurelay.sandbox.sample import sample
from zurelay.sandbox.tokens import pieces


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer in full. `usage` replaces the counted one where a model is told what to report."""

    thinking: str = ""
    text: str = ""
    refusal: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a sandbox model, whatever format it came in.

    Attributes:
        model: the id as it was sent, with its parameters.
        include_usage: whether a stream ends with the token counts.
        shows_thinking: whether thinking is shown, where the format leaves that to the caller.
    """

    model: str
    request: Request
    stream: bool = False
    include_usage: bool = False
    shows_thinking: bool = True


MOST_CALLS = 2
"""Parallel calls of one answer: enough to show them, harmless to an agent with forty tools."""

THINKING_TOKENS: Mapping[str, int] = {
    "none": 0,
    "minimal": 8,
    "low": 20,
    "medium": 60,
    "high": 150,
    "xhigh": 300,
    "max": 600,
}
DEFAULT_EFFORT = "medium"

_LOREM = (
    " Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco "
    "laboris nisi ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit in "
    "voluptate velit esse cillum dolore eu fugiat nulla pariatur. Excepteur sint occaecat "
    "cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est laborum."
)
_THOUGHTS = (
    " First, what is asked. Then, what is known about it. A simple case helps: it shows what must"
    " hold in general. Does it hold at the edges? Once more with the numbers, slowly. Yes, that"
    " fits. Is there a shorter way? Perhaps, but this one can be checked step by step."
)
_PRIMES = re.compile(
    r"primes?\b.{0,40}?\b(?:below|under|less than)\s+([0-9][0-9,]{0,8})", re.IGNORECASE
)
_MOST_SIEVED = 100_000


def draft(behaviour: Behaviour, request: Request, seed: str) -> Draft:
    """What the model answers. `seed` makes the ids of tool calls unique to this answer.

    Raises:
        Refused: the request cannot be answered by this model.
    """
    return _WRITERS[behaviour.model](behaviour, request, seed)


def lorem(tokens: int) -> str:
    """Filler text of exactly so many tokens."""
    return _repeat(_LOREM, tokens)


def _echo(_behaviour: Behaviour, request: Request, _seed: str) -> Draft:
    return Draft(text=_question(request) or "(nothing to echo)")


def _lorem(behaviour: Behaviour, _request: Request, _seed: str) -> Draft:
    return Draft(text=lorem(behaviour.tokens))


def _interrupted(behaviour: Behaviour, _request: Request, _seed: str) -> Draft:
    """More text than arrives, so that the break is in the middle of an answer."""
    return Draft(text=lorem((behaviour.after or 0) + 10))


def _slow(behaviour: Behaviour, _request: Request, _seed: str) -> Draft:
    return Draft(text=f"This answer waited {behaviour.first:g} seconds for its first token.")


def _reasoning(_behaviour: Behaviour, request: Request, _seed: str) -> Draft:
    effort = request.effort or DEFAULT_EFFORT
    if effort not in THINKING_TOKENS:
        levels = ", ".join(SCALE)
        raise Refused(
            invalid_value("reasoning_effort", f"reasoning_effort must be one of {levels}.")
        )
    question = _question(request)
    short = " ".join(question.split())[:200].rstrip()
    thinking = _repeat(f" The question is: {short}{_THOUGHTS}", THINKING_TOKENS[effort])
    return Draft(thinking=thinking, text=_conclusion(question, effort))


def _conclusion(question: str, effort: str) -> str:
    asked = _PRIMES.search(question)
    if asked is not None:
        limit = int(asked[1].replace(",", ""))
        if limit <= _MOST_SIEVED:
            return f"There are {_primes_below(limit):,} primes below {limit:,}."
    how = "without thinking" if effort == "none" else f"after thinking at effort {effort}"
    return f"Answered {how}: {question[:200] or 'nothing was asked'}"


def _tools(_behaviour: Behaviour, request: Request, seed: str) -> Draft:
    results = _fresh_results(request)
    if results:
        names = {
            part.id: part.name
            for turn in request.turns
            for part in turn.parts
            if isinstance(part, ToolCall)
        }
        told = "; ".join(
            f"{names.get(result.call_id, 'the tool')} answered: {_text(result.parts)[:500]}"
            for result in results
        )
        return Draft(text=f"From the tool results: {told}")
    chosen = _chosen(request)
    if not chosen:
        return Draft(text="No tools were given, so there is nothing to call.")
    calls = tuple(
        ToolCall(
            id=f"call_{seed}{index}",
            name=tool.name,
            arguments=msgspec.json.encode(
                sample(tool.parameters) if tool.parameters else {}
            ).decode(),
        )
        for index, tool in enumerate(chosen)
    )
    return Draft(calls=calls)


def _chosen(request: Request) -> tuple[Tool, ...]:
    choice = request.tool_choice
    if choice is not None and choice.mode == "none":
        return ()
    if choice is not None and choice.mode == "named":
        named = tuple(tool for tool in request.tools if tool.name == choice.name)
        if not named:
            raise Refused(
                invalid_value("tool_choice", "tool_choice names a tool that is not given.")
            )
        return named[:1]
    return request.tools[: 1 if request.parallel_tool_calls is False else MOST_CALLS]


def _json(_behaviour: Behaviour, request: Request, _seed: str) -> Draft:
    wanted = request.answer_format
    if wanted is not None and wanted.kind == "json_schema":
        value = sample(wanted.schema) if wanted.schema is not None else {}
    else:
        value = {"answer": _question(request), "sandbox": True}
    return Draft(text=msgspec.json.encode(value).decode())


def _refusal(_behaviour: Behaviour, _request: Request, _seed: str) -> Draft:
    return Draft(refusal="I'm sorry, I can't help with that.")


def _usage(behaviour: Behaviour, _request: Request, _seed: str) -> Draft:
    counted = Usage(
        input=behaviour.prompt - behaviour.cached - behaviour.cache_write,
        cached_input=behaviour.cached,
        cache_write=behaviour.cache_write,
        output=behaviour.completion,
        reasoning=behaviour.reasoning,
    )
    visible = max(1, behaviour.completion - behaviour.reasoning)
    return Draft(text=lorem(visible), thinking=lorem(behaviour.reasoning), usage=counted)


_WRITERS: Mapping[str, Callable[[Behaviour, Request, str], Draft]] = {
    "echo": _echo,
    "lorem": _lorem,
    "reasoning": _reasoning,
    "tools": _tools,
    "json": _json,
    "slow": _slow,
    "stall": _interrupted,
    "cut": _interrupted,
    "error": _interrupted,
    "rate-limit": _interrupted,
    "refusal": _refusal,
    "usage": _usage,
}


def _question(request: Request) -> str:
    """Text of the last user turn; the names of its other parts where it has no text."""
    for turn in reversed(request.turns):
        asked = [part for part in turn.parts if not isinstance(part, ToolResult)]
        if turn.role == "user" and asked:
            text = _text(tuple(asked))
            return text or " ".join(
                f"[{type(part).__name__.lower()}]" for part in asked if not isinstance(part, Text)
            )
    return ""


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text) and part.text)


def _fresh_results(request: Request) -> list[ToolResult]:
    """Tool results that came since the model last spoke."""
    found: list[ToolResult] = []
    for turn in reversed(request.turns):
        if turn.role == "assistant":
            break
        found[:0] = [part for part in turn.parts if isinstance(part, ToolResult)]
    return found


def _repeat(text: str, tokens: int) -> str:
    """`text`, which begins with a space, over and over, cut after so many tokens."""
    return "".join(islice(cycle(pieces(text)), tokens)).lstrip()


def _primes_below(limit: int) -> int:
    if limit <= 2:
        return 0
    sieve = bytearray([1]) * limit
    sieve[0] = sieve[1] = 0
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit, number)))
    return sum(sieve)
