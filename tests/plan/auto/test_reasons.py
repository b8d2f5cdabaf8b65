"""The sentences that people read."""

import pytest

from tests.plan.auto.made import a_model, usd
from tests.plan.made import served
from zurelay.formats.base import Ability
from zurelay.plan.auto import reasons
from zurelay.plan.auto.cost import Rates
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.pool import STOPPED, Barred, Entry
from zurelay.plan.auto.ranking import Ranked, Ranking, Why
from zurelay.plan.auto.shapes import SMALL, Row

CHAT = Features("chat", 100)
RATES = Rates(1.0, 1.0, 1.0, 0.0, 0, 100)


def row(tier: int = 3, lacks: int = 0, shortfall: int = 0) -> Row:
    entry = Entry(served(a_model("gpt-6", usd(1, 1))), tier, 0)
    return Row(entry, entry.served.routes, RATES, lacks, shortfall)


def told(ranking: Ranking, tier: int = 3, features: Features = CHAT, *signs: str) -> str:
    return reasons.sentence(ranking, tier, features, signs)


def test_why_a_model_is_first() -> None:
    one = Ranked(row(), 12_300_000.4)
    assert told(Ranking((one,), "cheapest", 9), 3, Features("code", 9, effort="high"), "code") == (
        "Tier strong for effort high, code: gpt-6 (expected $0.0123) is the cheapest of 9 that will"
        " do."
    )
    assert told(Ranking((one,), "cheapest", 1)) == (
        "Tier strong: gpt-6 (expected $0.0123) comes first as the only one that will do."
    )
    assert told(Ranking((one,), "corrected", 4)).endswith(
        "comes first of 4 that will do by cost, first-token time and success."
    )
    assert told(Ranking((one,), "stays", 4)).endswith(
        "stays, having the conversation in its prompt cache."
    )


def test_what_it_lacks_is_said() -> None:
    below = Ranked(row(tier=2, shortfall=1), float("inf"))
    assert told(Ranking((below,), "cheapest", 1)) == (
        "Tier strong, of which no model is left; gpt-6 is of tier standard: gpt-6 (no known price)"
        " comes first as the only one that will do."
    )
    assert "gpt-6 is unrated" in told(
        Ranking((Ranked(row(tier=0, shortfall=3), 1.0),), "cheapest", 1)
    )
    lacking = Ranked(row(lacks=1), 1.0)
    assert told(Ranking((lacking,), "cheapest", 2)).endswith(
        "is the cheapest of 2 that will do, though it cannot do all that was asked itself."
    )


def test_every_sentence_is_one() -> None:
    whys: tuple[Why, ...] = ("cheapest", "corrected", "stays", "stands in")
    for why in whys:
        text = told(Ranking((Ranked(row(), 1.0),), why, 2))
        assert text.endswith(".")
        assert ". " not in text


def test_features_are_told_where_they_are_there() -> None:
    assert reasons.features_view(CHAT, ()) == {"kind": "chat", "tokens": 100, "turns": 1}
    seen = Features("vision", 9, schema=True, forced=True, media=("image",))
    assert reasons.features_view(seen, ["media"]) == {
        "kind": "vision",
        "tokens": 9,
        "turns": 1,
        "signs": ["media"],
        "schema": True,
        "forced": True,
        "media": ["image"],
    }


def test_models_are_named_by_reason_and_not_all_of_them() -> None:
    barred = [Barred(f"m{n}", "dearer than the ceiling") for n in range(9)]
    barred.append(Barred("x", SMALL))
    problem = reasons.nothing_left("zurelay-auto", barred, Features("chat", 5, output=7), {})
    assert problem.message == (
        "'zurelay-auto' has no model left for this request. Dearer than the ceiling: m0, m1, m2,"
        " m3, m4 and 4 more; its window is too small for about 5 tokens and an answer of 7: x."
    )
    assert problem.code == "context_length_exceeded"


@pytest.mark.parametrize(
    ("ability", "word"), [(Ability.TOOLS, "tools"), (Ability.PDF, "PDF files")]
)
def test_a_part_that_nobody_takes_is_named(ability: Ability, word: str) -> None:
    barred = [Barred("m", f"takes no {word}")]
    problem = reasons.nothing_left("auto", barred, CHAT, {ability: "messages[3]"})
    assert (problem.code, problem.param) == ("unsupported_content", "messages[3]")


def test_where_all_is_stopped_the_gateway_is_at_fault() -> None:
    problem = reasons.nothing_left("auto", [Barred("m", STOPPED)], CHAT, {})
    assert problem.status == 503


def test_an_unknown_cost_is_no_number() -> None:
    assert reasons.whole(float("inf")) is None
    assert reasons.whole(1.6) == 2
