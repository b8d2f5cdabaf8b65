from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from zurelay.meter.limits import NEVER, WINDOW_MS, Bound, Window, reserved


def window(now: int, *admitted: tuple[int, int]) -> Window:
    """A window that counted one request with so many tokens at each of these moments."""
    made = Window()
    for at, tokens in admitted:
        made.forget(at)
        made.add(at, 1, tokens)
    made.forget(now)
    return made


def test_a_request_counts_for_sixty_seconds_and_not_a_moment_longer() -> None:
    one = window(0, (0, 7))
    one.forget(WINDOW_MS - 1)
    assert (one.requests, one.tokens) == (1, 7)
    one.forget(WINDOW_MS)
    assert (one.requests, one.tokens) == (0, 0)
    assert one.empty


def test_a_request_once_a_second_is_never_held_up_by_sixty_a_minute() -> None:
    steady = Window()
    for second in range(500):
        now = second * 1000 + 250
        steady.forget(now)
        assert steady.wait(now, 60, None, 0) == 0
        steady.add(now, 1, 0)


def test_the_wait_is_until_enough_has_left_for_this_very_request() -> None:
    three = window(30_000, (0, 10), (10_000, 20), (20_000, 70))
    assert three.wait(30_000, None, 100, 10) == 30_000  # the first ten leave at 60 s
    assert three.wait(30_000, None, 100, 11) == 40_000
    assert three.wait(30_000, 3, 100, 10) == 30_000
    assert three.wait(30_000, 2, 100, 10) == 40_000  # two requests have to leave
    assert three.wait(30_000, 4, 110, 10) == 0


def test_no_wait_helps_where_the_limit_is_nought() -> None:
    assert window(0).wait(0, 0, None, 5) == NEVER
    assert window(10, (0, 5)).wait(10, None, 0, 1) == NEVER


def test_tokens_given_back_are_free_at_once() -> None:
    one = window(500, (0, 100))
    assert one.wait(500, None, 100, 60) == WINDOW_MS - 500
    one.give_back(0, 0, 60)
    assert one.tokens == 40
    assert one.wait(500, None, 100, 60) == 0


def test_what_has_left_cannot_be_given_back_from_others() -> None:
    later = window(70_000, (0, 100), (70_000, 30))
    later.give_back(0, 1, 100)
    assert (later.requests, later.tokens) == (1, 30)


def test_what_is_given_back_is_found_under_its_second_though_more_came_in_it() -> None:
    both = window(900, (100, 10), (900, 20))
    both.give_back(100, 1, 10)
    assert (both.requests, both.tokens) == (1, 20)


def test_requests_and_tokens_have_resets_of_their_own() -> None:
    one = window(5_000, (0, 3))
    one.add(5_000, 0, 4)  # an answer turned out longer
    assert one.resets(6_000) == (54_000, 59_000)
    assert Window().resets(0) == (0, 0)


def test_a_clock_set_back_holds_nobody_up_for_longer_than_the_window() -> None:
    one = window(0)
    one.add(3_600_000, 1, 5)
    one.forget(10)
    assert one.wait(10, 1, None, 0) == WINDOW_MS
    one.forget(10 + WINDOW_MS)
    assert one.empty


def test_no_more_is_set_aside_than_the_bound_has() -> None:
    assert reserved(Bound("a", "key", tpm=100), 5_000) == 100
    assert reserved(Bound("a", "key", tpm=100), 50) == 50
    assert reserved(Bound("a", "key", rpm=1), 5_000) == 5_000


@dataclass
class Admitted:
    at: int
    tokens: int
    used: int | None = None


RPM, TPM = 7, 100


class AnyTraffic(RuleBasedStateMachine):
    """Requests come, wait and end at any times; a plain list says what is true."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.window = Window()
        self.admitted: list[Admitted] = []
        self.extra: list[tuple[int, int]] = []

    @rule(by=st.one_of(st.integers(0, 1_500), st.integers(0, 70_000)))
    def time_goes_by(self, by: int) -> None:
        self.now += by

    def _wait(self, now: int, tokens: int) -> int:
        self.window.forget(now)
        return self.window.wait(now, RPM, TPM, tokens)

    @rule(tokens=st.integers(0, TPM))
    def one_asks(self, tokens: int) -> None:
        wait = self._wait(self.now, tokens)
        if wait == 0:
            self.window.add(self.now, 1, tokens)
            self.admitted.append(Admitted(self.now, tokens))
            return
        before = (self.window.requests, self.window.tokens)
        assert wait != NEVER
        assert 0 < wait <= WINDOW_MS
        assert (self.window.requests, self.window.tokens) == before  # refused uses nothing
        assert self._wait(self.now + wait - 1, tokens) > 0  # a moment before: no
        assert self._wait(self.now + wait, tokens) == 0  # then: yes
        self.now += wait

    @precondition(lambda self: any(one.used is None for one in self.admitted))
    @rule(data=st.data(), used=st.integers(0, 2 * TPM))
    def one_ends(self, data: st.DataObject, used: int) -> None:
        one = data.draw(st.sampled_from([one for one in self.admitted if one.used is None]))
        self.window.forget(self.now)
        if used < one.tokens:
            self.window.give_back(one.at, 0, one.tokens - used)
            one.used = used
        else:
            self.window.add(self.now, 0, used - one.tokens)
            self.extra.append((self.now, used - one.tokens))
            one.used = one.tokens

    @invariant()
    def no_sixty_seconds_hold_more_than_the_limits(self) -> None:
        for start in self.admitted:
            inside = [one for one in self.admitted if start.at <= one.at < start.at + WINDOW_MS]
            assert len(inside) <= RPM

    @invariant()
    def tokens_admitted_hold_too_but_for_what_answers_overran(self) -> None:
        for start in self.admitted:
            end = start.at + WINDOW_MS
            inside = sum(
                one.tokens if one.used is None else one.used
                for one in self.admitted
                if start.at <= one.at < end
            )
            assert inside <= TPM

    @invariant()
    def sums_are_what_counts(self) -> None:
        self.window.forget(self.now)
        since = self.now - WINDOW_MS
        counted = [one for one in self.admitted if one.at > since]
        slack = [one for one in self.admitted if since - 1000 < one.at <= since]
        assert len(counted) <= self.window.requests <= len(counted) + len(slack)

    @invariant()
    def memory_is_bounded(self) -> None:
        assert len(self.window._entries) <= 61


TestAnyTraffic = AnyTraffic.TestCase


@given(st.lists(st.integers(0, 300), min_size=200, max_size=400))
def test_a_window_never_has_more_than_sixty_one_entries(gaps: list[int]) -> None:
    many, now = Window(), 0
    for gap in gaps:
        now += gap * 10
        many.forget(now)
        many.add(now, 1, 1)
        assert len(many._entries) <= 61
