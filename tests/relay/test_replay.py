"""Whoever asks gets every byte of an answer in order: at once, late, slowly, or afterwards."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.relay.callers import Caller, Plain, Run, Timers
from zurelay.relay.replay import BLOCK, DETACHED_SECONDS, Recording, Tape, replay

HEADERS = [(b"content-type", b"text/event-stream")]
MB = 1024 * 1024


@dataclass
class Made:
    recording: Recording
    timers: Timers
    run: Run
    held: int = 0
    room: int = 1 << 60

    def grew(self, change: int) -> bool:
        self.held += change
        return self.held <= self.room


def made(most_held: int = 1 << 60, room: int = 1 << 60) -> Made:
    timers, run = Timers(), Run()
    one = Made(None, timers, run, room=room)  # type: ignore[arg-type]
    one.recording = Recording(Plain(), timers.later, one.grew, most_held)
    one.recording.listen(run.left, run.paused.append)
    return one


def attached(one: Made, room: int = 1 << 60) -> Caller:
    caller = Caller(room)
    one.recording.attach(caller)
    return caller


def test_a_plain_answer_goes_to_all_who_wait_and_to_whoever_comes_later() -> None:
    one = made()
    first, second = attached(one), attached(one)
    one.recording.answer(200, HEADERS, b"whole")
    kept = one.recording.settle(keep=True)
    assert kept is not None
    third = Caller()
    replay(kept, Plain(), third)
    for caller in (first, second, third):
        assert (caller.status, caller.body, caller.ending) == (200, b"whole", "answered")
        assert list(caller.headers) == HEADERS


def test_who_joins_a_stream_gets_what_was_sent_and_then_what_comes_as_it_comes() -> None:
    one = made()
    first = attached(one)
    one.recording.open(200, HEADERS, b"a")
    one.recording.write(b"b")
    second = attached(one)
    assert (second.status, second.body) == (200, b"ab")
    one.recording.write(b"c")
    assert first.body == second.body == b"abc"
    one.recording.close(b"d")
    assert [(c.body, c.ending) for c in (first, second)] == [(b"abcd", "closed")] * 2


def test_who_joins_before_the_head_waits_for_it() -> None:
    one = made()
    attached(one)
    second = attached(one)
    assert second.status == 0
    one.recording.open(200, HEADERS)
    one.recording.close(b"x")
    assert (second.status, second.body, second.ending) == (200, b"x", "closed")


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_a_kept_answer_is_whole_at_every_size(size: int) -> None:
    text = bytes(n % 251 for n in range(size))
    for streams in (True, False):
        one = made()
        if streams:
            one.recording.open(200, HEADERS)
            for at in range(0, size, 1000):
                one.recording.write(text[at : at + 1000])
            one.recording.close()
        else:
            one.recording.answer(200, HEADERS, text)
        kept = one.recording.settle(keep=True)
        assert kept is not None
        assert all(block.startswith(b"packed ") for block in kept.blocks)
        caller = Caller()
        replay(kept, Plain(), caller)
        assert caller.body == text
        assert caller.ending == ("closed" if streams else "answered")


def test_leaving_only_detaches_and_the_run_goes_on_for_ten_minutes() -> None:
    one = made()
    first = attached(one)
    one.recording.open(200, HEADERS)
    first.leave()
    one.recording.write(b"unseen")
    one.timers.advance(DETACHED_SECONDS - 1)
    assert one.run.gone == 0
    second = attached(one)
    one.timers.advance(DETACHED_SECONDS)
    assert one.run.gone == 0
    assert second.body == b"unseen"
    second.leave()
    one.timers.advance(DETACHED_SECONDS - 1)
    assert one.run.gone == 0
    one.timers.advance(1)
    assert one.run.gone == 1
    assert one.recording.given_up
    assert first.body == b""


def test_one_of_two_who_leaves_changes_nothing() -> None:
    one = made()
    first, second = attached(one), attached(one)
    first.leave()
    assert one.timers.waiting == 0
    one.recording.answer(200, HEADERS, b"x")
    assert (first.status, second.body) == (0, b"x")


def test_nothing_rings_after_the_end() -> None:
    one = made()
    attached(one).leave()
    one.recording.answer(200, HEADERS, b"x")
    assert one.recording.settle(keep=True) is not None
    one.timers.advance(10 * DETACHED_SECONDS)
    assert one.run.gone == 0


def test_a_slow_caller_stops_nobody_and_reads_on_where_it_was() -> None:
    one = made()
    fast, slow = attached(one), attached(one, room=2)
    one.recording.open(200, HEADERS)
    text = b""
    for n in range(3000):
        event = b"event %d\n" % n * 10
        text += event
        one.recording.write(event)
    assert fast.body == text
    assert len(slow.body) < 100
    assert one.run.paused == []
    assert not one.recording.paused
    one.recording.close(b"end")
    assert [fast.ending, slow.ending] == ["closed", None]
    assert one.recording.settle(keep=True) is not None
    while slow.ending is None:
        assert text.startswith(slow.body)
        slow.read(10_000)
    assert slow.body == text + b"end"


def test_a_caught_up_caller_gets_live_bytes_again() -> None:
    one = made()
    slow = attached(one, room=1)
    one.recording.open(200, HEADERS, b"a")
    one.recording.write(b"b")
    assert slow.body == b"a"
    slow.read(1000)
    assert slow.body == b"ab"
    one.recording.write(b"c")
    assert slow.body == b"abc"


def test_a_caller_that_is_full_already_gets_nothing_beyond_the_head() -> None:
    one = made()
    caller = Caller()
    caller.paused = True
    one.recording.attach(caller)
    one.recording.open(200, HEADERS)
    one.recording.write(b"x" * 100)
    assert caller.body == b""
    caller.read(1000)
    assert caller.body == b"x" * 100


def test_an_answer_without_keep_is_not_kept_but_read_to_its_end() -> None:
    one = made()
    slow = attached(one, room=1)
    one.recording.open(200, HEADERS, b"ab")
    one.recording.close(b"error")
    assert one.recording.settle(keep=False) is None
    slow.read(100)
    assert (slow.body, slow.ending) == (b"aberror", "closed")


@pytest.mark.parametrize("opened", [False, True])
def test_a_run_that_ends_without_an_end_cuts_every_caller(opened: bool) -> None:
    one = made()
    callers = [attached(one), attached(one, room=1)]
    if opened:
        one.recording.open(200, HEADERS, b"some")
    assert one.recording.settle(keep=True) is None
    assert [caller.ending for caller in callers] == ["cut", "cut"]


OUTGROWN = {"its own share": (5 * BLOCK, 1 << 60), "all memory": (1 << 60, 5 * BLOCK)}


@pytest.mark.parametrize("why", OUTGROWN)
def test_an_answer_that_outgrows_its_share_runs_on_but_is_not_kept(why: str) -> None:
    most, room = OUTGROWN[why]
    one = made(most, room)
    caller = attached(one)
    one.recording.open(200, HEADERS)
    for _ in range(200):
        one.recording.write(b"x" * 10_000)
        assert one.held <= 6 * BLOCK + 100
    assert not one.recording.joinable
    assert one.held == 0
    assert one.run.paused == []
    one.recording.close(b"end")
    assert caller.body == b"x" * 2_000_000 + b"end"
    assert one.recording.settle(keep=True) is None


def test_off_the_record_the_slowest_caller_sets_the_pace() -> None:
    one = made(most_held=BLOCK)
    fast, slow = attached(one), attached(one, room=100)
    one.recording.open(200, HEADERS)
    sent = 0
    while not one.recording.paused:
        one.recording.write(b"x" * 1000)
        sent += 1000
    assert one.run.paused == [True]
    one.recording.write(b"y" * 10)  # what was on its way already
    assert fast.body == b"x" * sent + b"y" * 10
    assert len(slow.body) == 1000
    slow.read(1 << 60)
    assert slow.body == fast.body
    assert one.run.paused == [True, False]
    assert one.held == 0
    one.recording.write(b"z")
    slow.leave()
    assert fast.body[-1:] == b"z"


def test_off_the_record_a_slow_caller_that_leaves_lets_the_run_go_on() -> None:
    one = made(most_held=10)
    fast, slow = attached(one), attached(one, room=1)
    one.recording.open(200, HEADERS)
    one.recording.write(b"x" * 20)
    assert one.run.paused == [True]
    slow.leave()
    assert one.run.paused == [True, False]
    assert one.held == 0
    one.recording.close(b"y")
    assert fast.body == b"x" * 20 + b"y"


def test_an_answer_that_nobody_could_get_any_more_is_given_up_at_once() -> None:
    one = made(most_held=10)
    attached(one).leave()
    one.recording.open(200, HEADERS)
    one.recording.write(b"x" * 20)
    assert one.run.gone == 0  # never from within a write
    one.timers.advance(0)
    assert one.run.gone == 1


def test_the_last_one_to_leave_an_answer_off_the_record_ends_it() -> None:
    one = made(most_held=10)
    caller = attached(one)
    one.recording.open(200, HEADERS)
    one.recording.write(b"x" * 20)
    caller.leave()
    one.timers.advance(0)
    assert one.run.gone == 1


def test_memory_is_told_exactly() -> None:
    one = made()
    one.recording.open(200, HEADERS, b"x" * 10)
    assert one.held == one.recording.held == 10
    one.recording.close(b"y" * 5)
    one.recording.settle(keep=True)
    assert one.held == one.recording.held == len(b"packed ") + 15


def test_a_tape_is_read_by_offset_across_blocks() -> None:
    tape = Tape(Plain())
    tape.append(b"a" * BLOCK)
    tape.append(b"b" * 10)
    assert tape.read(BLOCK - 1) == b"a"
    assert tape.read(BLOCK) == b"b" * 10
    assert tape.read(BLOCK + 9) == b"b"
    assert tape.read(BLOCK + 10) == b""
    tape.clear()
    tape.append(b"c")
    assert tape.size == BLOCK + 11
    assert tape.read(BLOCK + 10) == b"c"


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 3 * BLOCK)),
        st.tuples(st.just("join"), st.integers(0, 2 * BLOCK)),
        st.tuples(st.just("read"), st.integers(0, 5)),
        st.tuples(st.just("leave"), st.integers(0, 5)),
    ),
    max_size=25,
)


@given(STEPS, st.sampled_from([1000, 2 * BLOCK, 1 << 60]))
def test_every_caller_gets_every_byte_in_order(steps: list[tuple[str, int]], most: int) -> None:
    one = made(most)
    callers = [attached(one)]
    stayed = [callers[0]]
    one.recording.open(200, HEADERS)
    text = b""
    for number, (step, value) in enumerate(steps):
        if step == "write":
            data = bytes([number]) * value
            text += data
            one.recording.write(data)
        elif step == "join" and one.recording.joinable:
            stayed.append(attached(one, room=value))
        elif step == "read" and value < len(stayed):
            stayed[value].read(BLOCK)
        elif step == "leave" and 0 < value < len(stayed):
            stayed.pop(value).leave()
        assert all(text.startswith(caller.body) for caller in stayed)
        behind = any(caller.body != text for caller in stayed)
        assert one.recording.paused >= (behind and not one.recording.joinable)
    one.recording.close(b"end")
    kept = one.recording.settle(keep=True)
    for caller in stayed:
        caller.read(1 << 60)
        assert (caller.body, caller.ending) == (text + b"end", "closed")
    assert (kept is not None) == one.recording.joinable
    if kept is not None:
        late = Caller()
        replay(kept, Plain(), late)
        assert late.body == text + b"end"
