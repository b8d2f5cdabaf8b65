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


@dataclass(frozen=True, slots=True)
class Price:
    """What tokens cost.

    Attributes:
        classes: token class -> price in 1e-18 USD per token. A class that is missing is charged
            at the dearest class of its side.
        above: (prompt tokens, price) pairs in rising order: once the whole prompt exceeds the
            number, every token of the request costs that price.
        per_request: fee per answered request in nano-dollars.
        since: first day in force, ISO; empty for always.
        source: where it comes from.
        checked: date of the last check, ISO.
    """

    classes: Mapping[TokenClass, int]
    above: tuple[tuple[int, "Price"], ...] = ()
    per_request: int = 0
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
    """One public model.

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
        quirks: changes to the provider's profile.
        tools: whether it takes tools; None if unknown.
        retires: last day, ISO; empty if none is known.
        released: first day, ISO; empty if unknown.
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
    quirks: Mapping[str, object] = field(default_factory=dict)
    tools: bool | None = None
    retires: str = ""
    released: str = ""

    def profile(self, base: Profile) -> Profile:
        """The provider's profile with this model's quirks over it."""
        return base.but(**self.quirks) if self.quirks else base
