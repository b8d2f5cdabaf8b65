"""The scale of reasoning effort: the rule on every set of levels that the catalogue has."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.catalogue.load import standard
from zurelay.catalogue.model import Model
from zurelay.chat.effort import BUDGETS, HIGH, LEAST_ROOM, SCALE, budget, clamp

MODELS = [model for models in standard().by_vendor.values() for model in models]
SETS = sorted({model.reasoning.levels for model in MODELS if model.reasoning})
BY_BUDGET = [model for model in MODELS if model.reasoning and model.reasoning.budget]
LEVEL_SETS = st.lists(st.sampled_from(SCALE), unique=True).map(
    lambda levels: tuple(level for level in SCALE if level in levels)
)
WORDS = st.sampled_from(SCALE)

EXAMPLES = [
    ("medium", "low high", "low"),
    ("medium", "low high max", "low"),
    ("xhigh", "low high max", "high"),
    ("xhigh", "low medium high max", "high"),
    ("minimal", "low medium high xhigh max", "low"),
    ("low", "none high max", "high"),
    ("max", "none low medium high", "high"),
    ("none", "low medium high", "low"),
    ("none", "none low", "none"),
    ("none", "high", "high"),
    ("minimal", "none high", "high"),
    ("high", "low medium xhigh", "medium"),
    ("high", "medium xhigh", "medium"),
    ("max", "", "none"),
    ("none", "", "none"),
    ("high", "none", "none"),
]


@pytest.mark.parametrize(("asked", "levels", "used"), EXAMPLES)
def test_examples(asked: str, levels: str, used: str) -> None:
    assert clamp(asked, levels.split()) == used


def _by_the_book(asked: str, levels: tuple[str, ...]) -> str:
    """The rule in the order the contract tells it, step by step away from the word asked for."""
    if asked in levels:
        return asked
    thinking = [level for level in levels if level != "none"]
    if not thinking:
        return "none"
    place = SCALE.index(asked)
    for distance in range(1, len(SCALE)):
        for other in (place - distance, place + distance):
            if 0 <= other < len(SCALE) and SCALE[other] in thinking:
                return SCALE[other]
    raise AssertionError("no level")


@pytest.mark.parametrize("levels", SETS, ids="-".join)
def test_the_matrix_of_the_catalogue(levels: tuple[str, ...]) -> None:
    assert {word: clamp(word, levels) for word in SCALE} == {
        word: _by_the_book(word, levels) for word in SCALE
    }


@given(WORDS, LEVEL_SETS)
def test_every_word_finds_a_real_level(asked: str, levels: tuple[str, ...]) -> None:
    used = clamp(asked, levels)
    assert used in levels or (used == "none" and set(levels) <= {"none"})
    assert used == _by_the_book(asked, levels)


@given(WORDS, LEVEL_SETS)
def test_thinking_is_off_only_if_asked_for(asked: str, levels: tuple[str, ...]) -> None:
    if clamp(asked, levels) == "none":
        assert asked == "none" or set(levels) <= {"none"}


@given(LEVEL_SETS)
def test_more_effort_never_gets_less(levels: tuple[str, ...]) -> None:
    used = [SCALE.index(clamp(word, levels)) for word in SCALE]
    if "none" not in levels:
        used = used[1:]
    assert used == sorted(used)


@given(WORDS, LEVEL_SETS)
def test_a_level_stays_itself(asked: str, levels: tuple[str, ...]) -> None:
    used = clamp(asked, levels)
    assert clamp(used, levels) == used


def test_the_levels_of_every_model_are_of_the_scale_and_in_order() -> None:
    for model in MODELS:
        if model.reasoning is not None:
            places = [SCALE.index(level) for level in model.reasoning.levels]
            assert places == sorted(set(places)), model.id
            default = model.reasoning.default
            assert default is None or default in model.reasoning.levels, model.id
    assert set(SCALE) >= HIGH


@pytest.mark.parametrize("model", BY_BUDGET, ids=lambda model: model.id)
def test_models_that_think_by_budget_have_the_words_whose_budgets_differ(model: Model) -> None:
    assert model.reasoning is not None
    assert model.reasoning.budget is not None
    levels = [level for level in model.reasoning.levels if level != "none"]
    bounds = model.reasoning.budget
    budgets = [budget(level, bounds) for level in levels]
    assert None not in budgets
    assert all(one < other for one, other in pairwise(b for b in budgets if b is not None))
    assert all(bounds[0] <= b <= bounds[1] for b in budgets if b is not None)


def test_the_catalogue_has_models_of_both_kinds() -> None:
    assert len(SETS) > 20
    assert {"claude-haiku-4-5", "gemini-2.5-flash"} <= {model.id for model in BY_BUDGET}


BOUNDS = st.tuples(st.integers(0, 2048), st.integers(4096, 70_000))
THINKING = st.sampled_from(SCALE[1:])


@given(THINKING, BOUNDS, st.integers(1, 200_000))
def test_a_budget_leaves_room_for_the_answer_and_never_raises_the_limit(
    level: str, bounds: tuple[int, int], limit: int
) -> None:
    tokens = budget(level, bounds, limit)
    if tokens is None:
        assert limit < bounds[0] + max(LEAST_ROOM, limit // 4) or limit <= LEAST_ROOM
    else:
        assert bounds[0] <= tokens <= bounds[1]
        assert tokens <= limit - LEAST_ROOM
        assert tokens > 0


@given(BOUNDS, st.none() | st.integers(1, 200_000))
def test_budgets_rise_with_the_level(bounds: tuple[int, int], limit: int | None) -> None:
    tokens = [budget(level, bounds, limit) or 0 for level in SCALE[1:]]
    assert tokens == sorted(tokens)


@pytest.mark.parametrize(("limit", "tokens"), [(2047, None), (2048, 1024), (4096, 3072)])
def test_a_limit_under_2048_has_no_room_for_claude(limit: int, tokens: int | None) -> None:
    assert budget("high", (1024, 63_999), limit) == tokens


def test_a_quarter_of_a_large_limit_stays_for_the_answer() -> None:
    assert budget("max", (0, 70_000), 16_000) == 12_000


def test_every_thinking_level_has_a_budget() -> None:
    assert tuple(BUDGETS) == SCALE[1:]
