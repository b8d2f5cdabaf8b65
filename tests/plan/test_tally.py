from zurelay.plan.tally import STEP_S, STEPS, Tally


def test_attempts_are_counted_for_an_hour() -> None:
    tally = Tally()
    assert tally.sums(1e6) == (0, 0)
    tally.add(1e6, success=True)
    tally.add(1e6 + 1, success=False)
    assert tally.sums(1e6 + 2) == (2, 1)
    tally.add(1e6 + STEP_S, success=False)
    assert tally.sums(1e6 + STEP_S) == (3, 2)
    assert tally.sums(1e6 + STEP_S * STEPS) == (1, 1)
    assert tally.sums(1e6 + 10 * STEP_S * STEPS) == (0, 0)
    tally.add(1e6 + 10 * STEP_S * STEPS, success=True)
    assert tally.sums(1e6 + 10 * STEP_S * STEPS) == (1, 0)
