"""A model as the catalogue knows it, and its prices.

Data only: nothing here knows routes, health or money owed. Prices are exact integers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from zurelay.catalogue.money import NO_MARKUP
from zurelay.chat.profile import Profile

TokenClass = Literal[
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "image_input",
    "output",
    "audio_output",
    "image_output",
]
"""The leaf classes of `chat.usage.Usage` that can have a price."""

INPUT_CLASSES: Final[tuple[TokenClass, ...]] = (
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "image_input",
)
OUTPUT_CLASSES: Final[tuple[TokenClass, ...]] = ("output", "audio_output", "image_output")

Call = Literal["web_search"]
"""What a provider's own tools do for a fee each."""

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
        per_call: fee for each call of a tool that the provider runs itself, in nano-dollars.
        tiers: service tier -> what the same tokens cost there.
        hours: (stretches of the week, price) pairs: while one of the stretches lasts, that price
            is in force instead.
        since: first day in force, ISO, from 0:00 UTC; empty for always.
        source: where it comes from.
        checked: date of the last check, ISO.
        rates: price of each class of `INPUT_CLASSES`, then of `OUTPUT_CLASSES`, none missing.
        missing: the classes without a price of their own.
        most_input: the dearest price of an input token; `most_output` of an output token.
    """

    classes: Mapping[TokenClass, int]
    above: tuple[tuple[int, "Price"], ...] = ()
    per_request: int = 0
    per_call: Mapping[Call, int] = field(default_factory=dict)
    tiers: Mapping[str, "Price"] = field(default_factory=dict)
    hours: tuple[tuple[tuple[Hours, ...], "Price"], ...] = ()
    since: str = ""
    source: str = ""
    checked: str = ""
    rates: tuple[int, ...] = field(init=False, repr=False, compare=False)
    missing: tuple[TokenClass, ...] = field(init=False, repr=False, compare=False)
    most_input: int = field(init=False, repr=False, compare=False)
    most_output: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out once what every request needs."""
        found, sides = self.classes, []
        for side in (INPUT_CLASSES, OUTPUT_CLASSES):
            given = [found[name] for name in side if name in found]
            # A price that has nothing for a side takes the dearest it has at all.
            sides.append(max(given or found.values(), default=0))
        rates = [
            found.get(name, most)
            for side, most in zip((INPUT_CLASSES, OUTPUT_CLASSES), sides, strict=True)
            for name in side
        ]
        absent = [name for name in (*INPUT_CLASSES, *OUTPUT_CLASSES) if name not in found]
        object.__setattr__(self, "rates", tuple(rates))
        object.__setattr__(self, "missing", tuple(absent))
        object.__setattr__(self, "most_input", sides[0])
        object.__setattr__(self, "most_output", sides[1])


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
        markup: factor on the price that callers pay, in millionths; see `money.parse_factor`.
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
    markup: int = NO_MARKUP
    format: str = ""
    quirks: Mapping[str, object] = field(default_factory=dict)
    tools: bool | None = None
    mode: Mode = ""
    retires: str = ""
    released: str = ""
    source: str = ""
    checked: str = ""
    _profiles: dict[int, tuple[Profile, Profile]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By the identity of the provider's profile: that, and what the quirks make of it. Making one
    takes longer than all else about a request, so each is made once."""

    def profile(self, base: Profile) -> Profile:
        """The provider's profile with this model's quirks over it."""
        if not self.quirks:
            return base
        known = self._profiles.get(id(base))
        if known is None or known[0] is not base:
            known = self._profiles[id(base)] = (base, base.but(**self.quirks))
        return known[1]
