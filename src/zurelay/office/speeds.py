"""How fast each model answered lately: until the first token, and from then on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.store.speeds import Answer, newest_answers

DAYS: Final = 7
ENTRIES: Final = 600
"""How many of the newest log entries are looked at."""

_LEAST_TOKENS: Final = 20
_LEAST_MS: Final = 20.0
"""Shorter answers tell nothing of a model's speed."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Medians over `answers` answers. None where none told it."""

    answers: int
    first_token_ms: float | None
    tokens_per_s: float | None


def speeds(desk: Desk, actor: Actor, account: str | None = None) -> dict[str, Speed]:
    """Models by public id that answered in the last days, as the actor's newest requests have it.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "usage.read") as connection:
        only = actor.account if account is None else the_account(connection, actor, account).id
        since = desk.clock() - DAYS * 86_400
        answers = newest_answers(connection, since, ENTRIES, only)
    by_model: dict[str, list[Answer]] = {}
    for answer in answers:
        by_model.setdefault(answer.model.partition("?")[0], []).append(answer)
    return {model: _speed(found) for model, found in by_model.items()}


def _speed(answers: Sequence[Answer]) -> Speed:
    first = [one.first_token_ms for one in answers if one.first_token_ms is not None]
    rates = [rate for one in answers if (rate := _rate(one)) is not None]
    return Speed(len(answers), _median(first), _median(rates))


def _rate(answer: Answer) -> float | None:
    if answer.first_token_ms is None or answer.duration_ms is None:
        return None
    took = answer.duration_ms - answer.first_token_ms
    if answer.tokens_out < _LEAST_TOKENS or took < _LEAST_MS:
        return None
    return answer.tokens_out / took * 1000


def _median(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None
