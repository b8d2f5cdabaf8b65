"""What a sandbox model id asks for: `sandbox/lorem?tokens=200&tps=50` read, checked and clipped.

Knows the models and their parameters; knows no request, no wire format and no clock.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from urllib.parse import unquote

from zurelay.chat.problems import Refused, invalid_value, model_not_found

PREFIX = "sandbox/"
MOST_SECONDS = 300.0
MOST_TOKENS = 10_000


class Unit(StrEnum):
    """What a parameter's value is."""

    SECONDS = "seconds"
    TOKENS = "tokens"
    RATE = "tokens per second"
    STATUS = "an HTTP error status"
    WORD = "a word"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a model id.

    Attributes:
        unit: what the value is; it decides how it is checked and clipped.
        about: one line for the documentation and the models list.
    """

    unit: Unit
    about: str


PARAMETERS: Mapping[str, Parameter] = {
    "first": Parameter(Unit.SECONDS, "wait before the first token"),
    "tps": Parameter(Unit.RATE, "tokens per second; left out, all come at once"),
    "tokens": Parameter(Unit.TOKENS, "length of the answer"),
    "after": Parameter(Unit.TOKENS, "tokens that arrive before it happens"),
    "status": Parameter(Unit.STATUS, "status of the error, 400 to 599"),
    "code": Parameter(Unit.WORD, "error code in the body, such as context_length_exceeded"),
    "retry_after": Parameter(Unit.SECONDS, "what the retry-after header says"),
    "prompt": Parameter(Unit.TOKENS, "input tokens reported, cached ones included"),
    "cached": Parameter(Unit.TOKENS, "input tokens reported as read from the cache"),
    "cache_write": Parameter(Unit.TOKENS, "input tokens reported as written to the cache"),
    "completion": Parameter(Unit.TOKENS, "output tokens reported, thinking included"),
    "reasoning": Parameter(Unit.TOKENS, "output tokens reported as thinking"),
}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How one sandbox model behaves. Times in seconds, lengths in tokens.

    Attributes:
        model: the name without prefix and parameters.
        first: wait before the first token (for a plain answer: added to the whole).
        tps: tokens per second; None for all at once.
        after: tokens before a stall, a cut or an error; None where nothing of the kind happens.
    """

    model: str
    about: str = ""
    takes: tuple[str, ...] = field(default=(), repr=False)
    first: float = 0.0
    tps: float | None = None
    tokens: int = 0
    after: int | None = None
    status: int = 503
    code: str | None = None
    retry_after: float | None = None
    prompt: int = 0
    cached: int = 0
    cache_write: int = 0
    completion: int = 0
    reasoning: int = 0


_PACE = ("first", "tps")

_MODELS = (
    Behaviour("echo", "Answers with the last user message.", _PACE),
    Behaviour(
        "lorem", "Filler text of a given length and speed.", ("tokens", *_PACE), tokens=200, tps=50
    ),
    Behaviour("reasoning", "Thinks as long as the effort asks for, then answers.", _PACE),
    Behaviour("tools", "Calls the tools it is given, then answers from their results.", _PACE),
    Behaviour("json", "Answers with JSON that fits response_format.", _PACE),
    Behaviour("slow", "Waits before its first token.", _PACE, first=30),
    Behaviour("stall", "Falls silent in the middle of its answer.", ("after", *_PACE), after=10),
    Behaviour(
        "cut", "Closes the connection in the middle of its answer.", ("after", *_PACE), after=10
    ),
    Behaviour(
        "error",
        "Answers with an error; with `after`, breaks a stream off with an error event.",
        ("status", "code", "after", "retry_after", *_PACE),
    ),
    Behaviour(
        "rate-limit",
        "Answers 429 with a retry-after.",
        ("retry_after", "first"),
        status=429,
        retry_after=2,
    ),
    Behaviour("refusal", "Refuses.", _PACE),
    Behaviour(
        "usage",
        "Reports the token counts it is told to.",
        ("prompt", "cached", "cache_write", "completion", "reasoning", *_PACE),
        prompt=1000,
        cached=800,
        completion=50,
    ),
    Behaviour("embedding", "Makes vectors; texts that share words lie close together."),
)

MODELS: Mapping[str, Behaviour] = {PREFIX + model.model: model for model in _MODELS}
"""Every sandbox model by its id, with its default parameters."""

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_WHOLE = re.compile(r"[0-9]{1,9}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")


def parse(model: str) -> Behaviour:
    """The behaviour that a model id asks for; the prefix `sandbox/` may be left out.

    Raises:
        Refused: 404 for an unknown model, 400 naming an unknown parameter or a bad value.
    """
    name, _, query = model.partition("?")
    known = MODELS.get(name if name.startswith(PREFIX) else PREFIX + name)
    if known is None:
        raise Refused(model_not_found(model[:100], _nearest(name)))
    if not query:
        return known
    given: dict[str, float | int | str] = {}
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        if key not in known.takes:
            raise Refused(invalid_value("model", _unknown(known, key)))
        if key in given:
            raise Refused(invalid_value("model", f"The parameter '{key}' is given twice."))
        given[key] = _read(known, key, unquote(value))
    behaviour = replace(known, **given)  # type: ignore[arg-type]
    if behaviour.cached + behaviour.cache_write > behaviour.prompt:
        text = "cached + cache_write must not exceed prompt, which includes them."
        raise Refused(invalid_value("model", f"sandbox/usage: {text}"))
    if behaviour.reasoning > behaviour.completion:
        text = "reasoning must not exceed completion, which includes it."
        raise Refused(invalid_value("model", f"sandbox/usage: {text}"))
    return behaviour


def _read(known: Behaviour, key: str, value: str) -> float | int | str:
    """One value, checked and clipped."""
    unit = PARAMETERS[key].unit
    if unit is Unit.TOKENS and _WHOLE.fullmatch(value):
        return min(int(value), MOST_TOKENS)
    if unit is Unit.STATUS and _WHOLE.fullmatch(value) and 400 <= int(value) <= 599:
        return int(value)
    if unit is Unit.SECONDS and _NUMBER.fullmatch(value):
        return min(float(value), MOST_SECONDS)
    if unit is Unit.RATE and _NUMBER.fullmatch(value) and float(value) > 0:
        return float(value)
    if unit is Unit.WORD and _WORD.fullmatch(value):
        return value
    wanted = {
        Unit.TOKENS: "a whole number of tokens",
        Unit.STATUS: "a status from 400 to 599",
        Unit.SECONDS: "a number of seconds",
        Unit.RATE: "a number of tokens per second above 0",
        Unit.WORD: "a word of a-z, 0-9 and _",
    }[unit]
    raise Refused(
        invalid_value(
            "model", f"sandbox/{known.model}: '{key}' must be {wanted}, not '{value[:40]}'."
        )
    )


def _unknown(known: Behaviour, key: str) -> str:
    takes = ", ".join(known.takes)
    return f"sandbox/{known.model} has no parameter '{key[:40]}'; it takes {takes}."


def _nearest(name: str) -> str | None:
    names = [model.model for model in _MODELS]
    close = get_close_matches(name.removeprefix(PREFIX)[:40], names, n=1, cutoff=0.7)
    return PREFIX + close[0] if close else None
