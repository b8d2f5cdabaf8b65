"""What the relay is given: one admitted request, and the services every request shares."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from zurelay.chat.problems import FailedAttempt
from zurelay.formats.base import Exchange, Front, Inbound
from zurelay.meter.free_answers import FreeAnswers
from zurelay.meter.ports import Hold, Ledger
from zurelay.meter.record import RequestRecord
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health
from zurelay.plan.planner import Plan
from zurelay.plan.retries import HedgeBudget, RetryBudget
from zurelay.providers.base import Provider
from zurelay.relay.deadlines import FarDeadlines
from zurelay.relay.timing import Timing
from zurelay.upstream.base import Client
from zurelay.upstream.download import Downloads


class Observer(Protocol):
    """Hears of each request's end, for logs and metrics."""

    def started(self) -> None:
        """A request was admitted."""

    def left(self) -> None:
        """An admitted request is over, its last byte handed over."""

    def stream_opened(self) -> None:
        """A stream's head was sent."""

    def stream_closed(self) -> None:
        """An open stream ended."""

    def finished(self, record: RequestRecord) -> None:
        """A request is over; called once, when its record is handed to the ledger."""


@dataclass(slots=True)
class Services:
    """Shared by all requests; replaced as a whole never, its parts may change on reload.

    Attributes:
        lacking: route id -> quirks that it turned out to lack.
    """

    ledger: Ledger
    health: Health
    affinity: Affinity
    retries: RetryBudget
    observer: Observer
    exchange: Callable[[str, str], Exchange]
    client: Callable[[Provider], Client]
    downloads: Downloads
    wall: Callable[[], float]
    jitter: Callable[[], float]
    lacking: dict[str, set[str]] = field(default_factory=dict)
    hedges: HedgeBudget = field(default_factory=HedgeBudget)
    far: FarDeadlines | None = None
    free: FreeAnswers = field(default_factory=FreeAnswers)


class Job(msgspec.Struct):
    """One admitted request.

    Attributes:
        started: loop time at which its head arrived.
        redact: removes configured secrets and addresses from a text and cuts it.
        failed: each failed attempt so far, as the caller may see it.
        cache_key: the caller's `prompt_cache_key` made its account's own; None if it sent none.
        affinity_key: names the conversation; None where nothing is remembered.
        expose_routes: the caller may see providers' names and their own error texts.
        markup: of the key or its account, in millionths; None for the model's own.
        comments_end_once: comments in the stream end with one newline; older openai-go takes the
            blank line for an event.
    """

    inbound: Inbound
    front: Front
    plan: Plan
    record: RequestRecord
    hold: Hold
    timing: Timing
    answer_id: str
    created: int
    started: float
    redact: Callable[[str], str]
    connect_deadline: float = 5.0
    affinity_key: bytes | None = None
    cache_key: str | None = None
    expose_routes: bool = False
    comments_end_once: bool = False
    markup: int | None = None
    failed: list[FailedAttempt] = []
