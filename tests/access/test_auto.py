"""Patterns and rules of the smart choice."""

import pytest

from zurelay.access.auto import (
    AutoRules,
    AutoTerms,
    Ceiling,
    Weights,
    fits,
    plain_terms,
    terms_of,
)


@pytest.mark.parametrize(
    ("pattern", "model", "does"),
    [
        ("gpt-6", "gpt-6", True),
        ("gpt-6", "gpt-6-sol", False),
        ("gpt-6*", "gpt-6-sol", True),
        ("*-sol", "gpt-6-sol", True),
        ("*", "anything/at:all", True),
        ("qwen/*", "openrouter/qwen/x", False),
        ("gpt-6.1*", "gpt-6x1", False),
        ("a*c*e", "abcde", True),
        ("[ab]*", "a", False),
    ],
)
def test_a_star_stands_for_any_text_and_all_else_for_itself(
    pattern: str, model: str, does: bool
) -> None:
    assert fits(pattern, model) is does


def test_the_first_pattern_that_fits_is_told() -> None:
    rules = AutoRules(allow=("gpt-*", "gpt-6"), tiers=(("gpt-6", 2), ("gpt-*", 3)))
    assert rules.allowed_by("gpt-6") == "gpt-*"
    assert rules.allowed_by("claude") is None
    assert AutoRules().allowed_by("claude") == ""
    assert (rules.tier("gpt-6"), rules.tier("gpt-5"), rules.tier("o3")) == (2, 3, None)
    assert AutoRules(exclude=("*-pro",)).excludes("gpt-6-pro")


def test_a_keys_terms_stand_in_place_of_the_rules_where_it_has_any() -> None:
    rules = AutoRules(("a",), ("b",), (("c", 1),), Ceiling(1, 2), Weights(cost=2))
    assert rules.under(None) is rules
    assert rules.under(AutoTerms()) == rules
    changed = rules.under(AutoTerms(allow=(), exclude=("x",), ceiling=Ceiling()))
    assert changed == AutoRules((), ("x",), (("c", 1),), Ceiling(), Weights(cost=2))


def test_rules_can_be_a_key_of_what_was_worked_out_under_them() -> None:
    assert hash(AutoRules()) == hash(AutoRules())
    assert AutoRules(allow=("a",)) != AutoRules()


@pytest.mark.parametrize(
    ("terms", "plain"),
    [
        (AutoTerms(), {}),
        (AutoTerms(allow=(), exclude=("a", "b*")), {"allow": [], "exclude": ["a", "b*"]}),
        (AutoTerms(ceiling=Ceiling(5 * 10**12)), {"ceiling": {"input": "5.00"}}),
        (AutoTerms(ceiling=Ceiling(None, 10**11)), {"ceiling": {"output": "0.10"}}),
    ],
)
def test_terms_are_kept_as_plain_data(terms: AutoTerms, plain: dict[str, object]) -> None:
    assert plain_terms(terms) == plain
    assert terms_of(plain) == terms


@pytest.mark.parametrize("plain", [{"tiers": {}}, {"ceiling": {"input": "much"}}])
def test_terms_that_cannot_be_are_refused(plain: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"tiers|much"):
        terms_of(plain)
