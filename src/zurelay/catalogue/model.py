"""A model as the catalogue knows it, and its prices.

Data only: nothing here knows routes, health or money owed. Prices are exact integers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from zurelay.chat.profile import Profile

TokenClass = Literal[
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "output",
    "audio_output",
]
"""The leaf classes of `chat.usage.Usage` that can have a price."""

Mode = Literal["chat", "embeddings", ""]


@dataclass(frozen=True, slots=True)
class Hours:
    """A stretch of the week, in UTC.

    Attributes:
        weekdays: 1 (Monday) to 7.
        start: first minute of the day.
        end: the minute after the last, at most 1440.
    """

    weekdays: frozenset[int]
    start: int
    end: int

    def covers(self, weekday: int, minute: int) -> bool:
        """Whether that minute of that weekday lies inside."""
        return weekday in self.weekdays and self.start <= minute < self.end


@dataclass(frozen=True, slots=True)
class Price:
    """What tokens cost.

    Attributes:
        classes: token class -> price in 1e-18 USD per token. A class that is missing is charged
            at the dearest class of its side.
        above: (prompt tokens, price) pairs in rising order: once the whole prompt exceeds the
            number, every token of the request costs that price.
        per_request: fee per answered request in nano-dollars.
        tiers: service tier -> what the same tokens cost there.
        hours: (stretches of the week, price) pairs: while one of the stretches lasts, that price
            is in force instead.
        since: first day in force, ISO, from 0:00 UTC; empty for always.
        source: where it comes from.
        checked: date of the last check, ISO.
    """

    classes: Mapping[TokenClass, int]
    above: tuple[tuple[int, "Price"], ...] = ()
    per_request: int = 0
    tiers: Mapping[str, "Price"] = field(default_factory=dict)
    hours: tuple[tuple[tuple[Hours, ...], "Price"], ...] = ()
    since: str = ""
    source: str = ""
    checked: str = ""


FREE = Price(classes={"input": 0, "output": 0})


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Effort levels.

    Attributes:
        levels: the levels it takes, lowest first; empty for a model without reasoning.
        default: the level in force when none is asked; None if unknown.
        budget: (least, most) thinking tokens for models that think by budget, else None.
    """

    levels: tuple[str, ...] = ()
    default: str | None = None
    budget: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """One public model, as one vendor offers it.

    The same public id may stand in several vendors' catalogues: several ways to one model, each
    with its own upstream name, price and quirks.

    Attributes:
        id: what callers write in `model`.
        name: for people.
        vendor: the lab or host whose catalogue it is in.
        upstream: the vendor's own name for it, mostly the same as `id`.
        context: window in tokens, None if unknown.
        max_output: most output tokens, None if unknown.
        input: kinds of input: text, image, pdf, audio, video; empty if unknown.
        reasoning: its effort levels; None if unknown.
        price: None if unknown.
        later: prices that replace it, each from its `since` on, in rising order.
        format: the one back format that reaches it; empty if its provider's own does.
        quirks: changes to the provider's profile.
        tools: whether it takes tools; None if unknown.
        mode: what it gives: answers (`chat`) or `embeddings`; empty if unknown.
        retires: last day, ISO; empty if none is known.
        released: first day, ISO; empty if unknown.
        source: where the entry comes from.
        checked: date of the last check, ISO.
    """

    id: str
    name: str
    vendor: str
    upstream: str
    context: int | None = None
    max_output: int | None = None
    input: tuple[str, ...] = ()
    reasoning: Reasoning | None = None
    price: Price | None = None
    later: tuple[Price, ...] = ()
    format: str = ""
    quirks: Mapping[str, object] = field(default_factory=dict)
    tools: bool | None = None
    mode: Mode = ""
    retires: str = ""
    released: str = ""
    source: str = ""
    checked: str = ""

    def profile(self, base: Profile) -> Profile:
        """The provider's profile with this model's quirks over it."""
        return base.but(**self.quirks) if self.quirks else base
