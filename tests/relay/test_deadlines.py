"""Many deadlines of one request ring in order, on one handle of the loop."""

import asyncio
from collections.abc import Callable

from zurelay.relay.deadlines import Deadlines, FarDeadlines
from zurelay.relay.signals import REQUEST, Timer


class Handle:
    def __init__(self, loop: "FakeLoop", at: float, call: Callable[[], None]) -> None:
        self.at, self.call, self.loop = at, call, loop

    def cancel(self) -> None:
        self.loop.handles.discard(self)


class FakeLoop:
    """A clock that is moved by hand and counts what is armed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.armed = 0
        self.handles: set[Handle] = set()

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None]) -> Handle:
        return self.call_at(self.now + seconds, call)

    def call_at(self, at: float, call: Callable[[], None]) -> Handle:
        self.armed += 1
        handle = Handle(self, at, call)
        self.handles.add(handle)
        return handle

    def run_until(self, end: float) -> None:
        while due := [h for h in self.handles if h.at <= end]:
            first = min(due, key=lambda h: h.at)
            self.handles.discard(first)
            self.now = first.at
            first.call()
        self.now = end


def made() -> tuple[FakeLoop, Deadlines, list[tuple[float, Timer, int]]]:
    loop = FakeLoop()
    rung: list[tuple[float, Timer, int]] = []
    as_loop: asyncio.AbstractEventLoop = loop  # type: ignore[assignment]
    deadlines = Deadlines(as_loop, lambda timer, attempt, now: rung.append((now, timer, attempt)))
    return loop, deadlines, rung


def test_deadlines_ring_in_their_order_not_in_the_order_they_were_set() -> None:
    loop, deadlines, rung = made()
    deadlines.set(Timer.TOTAL, REQUEST, 30.0)
    deadlines.set(Timer.START, 0, 10.0)
    deadlines.set(Timer.OPEN, REQUEST, 20.0)
    loop.run_until(100.0)
    assert rung == [
        (10.0, Timer.START, 0),
        (20.0, Timer.OPEN, REQUEST),
        (30.0, Timer.TOTAL, REQUEST),
    ]


def test_setting_a_deadline_again_replaces_it() -> None:
    loop, deadlines, rung = made()
    deadlines.set(Timer.IDLE, 0, 10.0)
    deadlines.set(Timer.IDLE, 0, 50.0)
    loop.run_until(40.0)
    assert rung == []
    loop.run_until(60.0)
    assert rung == [(50.0, Timer.IDLE, 0)]


def test_a_cleared_deadline_does_not_ring() -> None:
    loop, deadlines, rung = made()
    deadlines.set(Timer.START, 0, 10.0)
    deadlines.set(Timer.START, 1, 10.0)
    deadlines.clear(Timer.START, 0)
    loop.run_until(20.0)
    assert rung == [(10.0, Timer.START, 1)]


def test_what_is_set_while_ringing_rings_too() -> None:
    loop = FakeLoop()
    rung: list[float] = []

    def ring(timer: Timer, attempt: int, now: float) -> None:
        rung.append(now)
        if now < 3:
            deadlines.set(timer, attempt, now + 1)

    deadlines = Deadlines(loop, ring)  # type: ignore[arg-type]
    deadlines.set(Timer.QUIET, REQUEST, 1.0)
    loop.run_until(10.0)
    assert rung == [1.0, 2.0, 3.0]


def test_a_deadline_that_another_one_clears_at_the_same_moment_does_not_ring() -> None:
    loop = FakeLoop()
    rung: list[Timer] = []

    def ring(timer: Timer, _attempt: int, _now: float) -> None:
        rung.append(timer)
        deadlines.close()

    deadlines = Deadlines(loop, ring)  # type: ignore[arg-type]
    deadlines.set(Timer.IDLE, 0, 1.0)
    deadlines.set(Timer.TOTAL, REQUEST, 1.0)
    loop.run_until(10.0)
    assert len(rung) == 1
    assert loop.handles == set()


def test_a_deadline_pushed_back_a_thousand_times_arms_the_loop_once() -> None:
    loop, deadlines, rung = made()
    for event in range(1000):
        deadlines.set(Timer.IDLE, 0, 180.0 + event)
    assert loop.armed == 1
    loop.run_until(2000.0)
    assert rung == [(1179.0, Timer.IDLE, 0)]


def test_far_deadlines_set_in_any_order_arm_the_loop_once() -> None:
    loop, deadlines, _ = made()
    deadlines.set(Timer.TOTAL, REQUEST, 570.0)
    deadlines.set(Timer.START, 0, 180.0)
    deadlines.set(Timer.OPEN, REQUEST, 20.0)
    assert loop.armed == 1


def test_forgetting_an_attempt_leaves_the_others() -> None:
    loop, deadlines, rung = made()
    deadlines.set(Timer.START, 0, 1.0)
    deadlines.set(Timer.IDLE, 0, 2.0)
    deadlines.set(Timer.START, 1, 3.0)
    deadlines.forget(0)
    loop.run_until(10.0)
    assert rung == [(3.0, Timer.START, 1)]


def far(loop: FakeLoop) -> FarDeadlines:
    return FarDeadlines(loop)  # type: ignore[arg-type]


def test_far_deadlines_of_many_requests_wait_on_one_handle_and_ring_in_time() -> None:
    loop = FakeLoop()
    waiting = far(loop)
    rung: list[float] = []
    many = [
        Deadlines(loop, lambda _t, _a, now: rung.append(now), waiting)  # type: ignore[arg-type]
        for _ in range(100)
    ]
    for place, each in enumerate(many):
        each.set(Timer.START, 0, 5.0 + place)
    assert loop.armed == 1
    loop.run_until(200.0)
    assert rung == [5.0 + place for place in range(100)]


def test_a_request_that_ends_leaves_the_far_ones() -> None:
    loop = FakeLoop()
    waiting = far(loop)
    rung: list[float] = []
    deadlines = Deadlines(loop, lambda _t, _a, now: rung.append(now), waiting)  # type: ignore[arg-type]
    deadlines.set(Timer.START, 0, 5.0)
    deadlines.close()
    loop.run_until(20.0)
    assert rung == []
    assert loop.handles == set()


def test_a_near_deadline_rings_though_a_far_one_was_set_first() -> None:
    loop = FakeLoop()
    rung: list[tuple[float, Timer]] = []
    deadlines = Deadlines(loop, lambda t, _a, now: rung.append((now, t)), far(loop))  # type: ignore[arg-type]
    deadlines.set(Timer.TOTAL, REQUEST, 30.0)
    deadlines.set(Timer.RETRY, 0, 0.2)
    loop.run_until(40.0)
    assert rung == [(0.2, Timer.RETRY), (30.0, Timer.TOTAL)]


def test_a_far_deadline_pushed_back_while_it_comes_near_rings_at_its_new_time() -> None:
    loop = FakeLoop()
    rung: list[float] = []
    deadlines = Deadlines(loop, lambda _t, _a, now: rung.append(now), far(loop))  # type: ignore[arg-type]
    deadlines.set(Timer.IDLE, 0, 2.0)
    loop.run_until(1.6)
    deadlines.set(Timer.IDLE, 0, 9.0)
    loop.run_until(20.0)
    assert rung == [9.0]
