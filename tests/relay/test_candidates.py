"""Which candidate may be asked next within one request."""

from zurelay.relay.candidates import Candidates, CandidateView, Standing
from zurelay.relay.timing import Timing

TIMING = Timing()


def of(*models: str, listed: tuple[str, ...] = ()) -> Candidates:
    return Candidates([CandidateView(m, listed=m in listed) for m in models], TIMING)


def take(candidates: Candidates) -> int | None:
    candidate = candidates.first()
    if candidate is None:
        return None
    candidate.standing = Standing.USED
    candidate.calls += 1
    return candidate.index


def test_candidates_are_asked_in_order_once() -> None:
    candidates = of("a", "a", "b")
    assert [take(candidates) for _ in range(4)] == [0, 1, 2, None]


def test_a_refusing_model_leaves_only_other_listed_ones() -> None:
    candidates = of("a", "a", "b", "c", listed=("c",))
    assert take(candidates) == 0
    candidates.refuse("a")
    assert [take(candidates), take(candidates)] == [3, None]


def test_what_is_too_long_for_one_may_be_taken_by_others_that_the_gateway_chose() -> None:
    views = [CandidateView(m, ranked=True) for m in ("a", "a", "b", "c")]
    candidates = Candidates(views, TIMING)
    candidates.refuse("a", too_long=True)
    assert take(candidates) == 2
    candidates.refuse("b")
    assert take(candidates) is None


def test_the_shortest_rest_is_waited_for_and_told_only_if_all_rest() -> None:
    candidates = of("a", "a")
    for wait in (3.0, 2.0):
        candidate = candidates.first()
        assert candidate is not None
        candidate.rest(wait, spent=False)
    assert candidates.wait() == candidates.told_wait() == 2.0
    candidates.wake()
    assert take(candidates) == 0
    assert candidates.told_wait() is None


def test_one_that_must_not_be_asked_again_is_not_waited_for_but_told() -> None:
    candidates = of("a")
    candidate = candidates.first()
    assert candidate is not None
    candidate.rest(2.0, spent=True)
    assert (candidates.wait(), candidates.told_wait()) == (None, 2.0)
    candidates.wake()
    assert candidates.first() is None


def test_high_effort_has_the_longer_deadlines_and_a_view_its_own() -> None:
    views = [
        CandidateView("a"),
        CandidateView("a", high_effort=True),
        CandidateView("a", start_deadline=1.0, idle_deadline=2.0),
    ]
    candidates = Candidates(views, TIMING)
    found = []
    for _ in views:
        candidate = candidates.first()
        assert candidate is not None
        candidate.standing = Standing.USED
        found.append((candidate.start, candidate.idle))
    assert found == [(180.0, 180.0), (300.0, 300.0), (1.0, 2.0)]


def test_beside_a_slow_route_stands_only_one_of_its_model() -> None:
    candidates = of("a", "b", "a")
    slow = candidates.first()
    assert slow is not None
    slow.standing = Standing.USED
    beside = candidates.beside(slow)
    assert beside is not None
    assert beside.index == 2
