"""What an operator says of the smart choice, for all callers or for those of one key.

Data only, hashable: what was worked out under the same rules is worked out once. Nothing here
knows models, prices in force or requests.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from zurelay.catalogue.price import per_million, per_token

STAY: Final = 2.0
"""A conversation stays with its model while that costs at most so many times the least."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The dearest price a model may have, in 1e-18 USD per token; None for no bound."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each thing counts; 0 for not at all.

    Attributes:
        cost: exponent of the expected cost.
        speed: exponent of the factor, at most 2, by which first tokens come later than the fastest.
        success: exponent of the factor, at most 2, by which answers fail.
        stay: see `STAY`; 0 lets go at once.
    """

    cost: float = 1.0
    speed: float = 1.0
    success: float = 1.0
    stay: float = STAY


@dataclass(frozen=True, slots=True)
class AutoTerms:
    """What differs for the callers of one key; None leaves the rules of all callers in force."""

    allow: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    ceiling: Ceiling | None = None


@dataclass(frozen=True, slots=True)
class AutoRules:
    """The rules of a choice.

    Attributes:
        allow: patterns of public model ids that may be chosen, `*` for any text; empty for all.
        exclude: patterns of those that may not; it wins over `allow`.
        tiers: (pattern, number of the tier) pairs in place of stated tiers; the first that fits.
        ceiling: dearer models are never chosen.
        weights: what counts how much.
    """

    allow: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tiers: tuple[tuple[str, int], ...] = ()
    ceiling: Ceiling = Ceiling()
    weights: Weights = Weights()

    def under(self, terms: AutoTerms | None) -> "AutoRules":
        """These rules for the callers of a key: what its terms say stands in place of them."""
        if terms is None:
            return self
        return replace(
            self,
            allow=self.allow if terms.allow is None else terms.allow,
            exclude=self.exclude if terms.exclude is None else terms.exclude,
            ceiling=self.ceiling if terms.ceiling is None else terms.ceiling,
        )

    def allowed_by(self, model_id: str) -> str | None:
        """The pattern that lets the model in; an empty one where nothing says who may."""
        if not self.allow:
            return ""
        return next((pattern for pattern in self.allow if fits(pattern, model_id)), None)

    def excludes(self, model_id: str) -> bool:
        """Whether the model may not be chosen."""
        return any(fits(pattern, model_id) for pattern in self.exclude)

    def tier(self, model_id: str) -> int | None:
        """The tier that the operator gives it; None where the stated one holds."""
        return next((tier for pattern, tier in self.tiers if fits(pattern, model_id)), None)


def terms_of(plain: Mapping[str, Any]) -> AutoTerms:
    """A key's terms from plain data: `allow`, `exclude`, `ceiling` {`input`, `output`} in USD.

    Raises:
        ValueError: an amount is none, or there is another key.
    """
    for name in plain:
        if name not in _TERMS:
            raise ValueError(f"there is no {name!r} among {', '.join(_TERMS)}")
    ceiling = plain.get("ceiling")
    return AutoTerms(
        allow=_patterns(plain.get("allow")),
        exclude=_patterns(plain.get("exclude")),
        ceiling=None if ceiling is None else Ceiling(*map(_amount, map(ceiling.get, _SIDES))),
    )


def plain_terms(terms: AutoTerms) -> dict[str, Any]:
    """The way back."""
    plain: dict[str, Any] = {
        name: list(patterns)
        for name, patterns in (("allow", terms.allow), ("exclude", terms.exclude))
        if patterns is not None
    }
    if terms.ceiling is not None:
        amounts = zip(_SIDES, (terms.ceiling.input, terms.ceiling.output), strict=True)
        plain["ceiling"] = {
            side: per_million(amount) for side, amount in amounts if amount is not None
        }
    return plain


_TERMS: Final = ("allow", "exclude", "ceiling")
_SIDES: Final = ("input", "output")


def _patterns(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(dict.fromkeys(names))


def _amount(text: str | None) -> int | None:
    return None if text is None else per_token(text)


def fits(pattern: str, model_id: str) -> bool:
    """Whether the pattern names the model; `*` stands for any text, all else for itself."""
    if "*" not in pattern:
        return pattern == model_id
    return _compiled(pattern).fullmatch(model_id) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
