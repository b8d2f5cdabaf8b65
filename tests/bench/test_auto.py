"""The evidence on the smart choice: it runs, and the documentation claims what it shows."""

from pathlib import Path

import pytest

from bench.auto import replay, speed
from bench.auto.shapes import SHAPES
from zurelay.catalogue.tiers import TIERS

PAGE = Path(__file__).resolve().parents[2] / "src/zurelay/docs/pages/en/smart-routing.md"


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, ...]]:
    return list(replay.rows())


def test_the_documentation_shows_the_table_and_no_other(rows: list[tuple[str, ...]]) -> None:
    told = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line.endswith("% |")]
    assert told == [f"| {' | '.join(row)} |" for row in rows]


def test_the_documentation_says_how_much_was_replayed() -> None:
    requests = sum(len(shape.turns) for shape in SHAPES)
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"replays {requests} requests in {len(SHAPES)} conversations" in text


def test_every_kind_and_every_tier_is_there() -> None:
    assert {shape.kind for shape in SHAPES} == {
        "chat",
        "code",
        "extraction",
        "long document",
        "agent",
        "vision",
    }
    assert {shape.tier for shape in SHAPES} == set(TIERS)


def test_the_smart_choice_is_cheaper_than_the_best_and_better_than_the_cheapest() -> None:
    found = replay.outcomes(replay.LABS)
    smart, best, cheap = (
        found[name] for name in ("zurelay-auto", "always the best", "always the cheapest")
    )
    assert cheap.usd < smart.usd < best.usd
    assert cheap.met < smart.met


def test_a_decision_can_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "_ROUNDS", 1)
    monkeypatch.setattr(speed, "_CALLS", 1)
    table = speed.table_of(60)
    assert len(table.models) == 60
    timed = list(speed.measured(table))
    assert len(timed) == len(list(speed.requests()))
    assert all(one.decision > 0 for one in timed)
