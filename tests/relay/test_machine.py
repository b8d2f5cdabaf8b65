"""The relay's rules for one route, told as what happens and what must follow."""

from tests.relay.story import (
    BEGUN,
    BUSY,
    DOWN,
    OPEN,
    PLAIN_BEGUN,
    QUIET,
    REFUSED,
    RETRY,
    SILENT,
    STREAM_MAX,
    TOKEN,
    TOTAL,
    began,
    call,
    cancel,
    idle,
    late,
    plain,
    play,
    start,
    stream,
)
from zurelay.chat.faults import Fault, FaultKind
from zurelay.relay.machine import CandidateView
from zurelay.relay.signals import (
    Arrived,
    Begin,
    Clear,
    ClientGone,
    Drop,
    Ended,
    Failed,
    KeepAlive,
    Open,
    Outcome,
    Probing,
    Rang,
    Refuse,
    Send,
    SendFault,
    Settle,
    ShuttingDown,
    Signal,
    Skipped,
    Timer,
)

# What is held back, and what releases it.


def test_nothing_is_sent_before_the_first_token_and_a_switch_of_route_is_not_seen() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"role of A"), []),
        (Failed(0, DOWN), [Clear(Timer.START, 0), *call(1)]),
        (Arrived(1, b"role, "), []),
        (Arrived(1, b"ping, "), []),
        (
            Arrived(1, b"hi", token=True),
            [*began(1), Clear(Timer.OPEN), Open(1), Send(1, b"role, ping, hi"), QUIET],
        ),
        (Arrived(1, b"!", token=True), [idle(1), Send(1, b"!"), QUIET]),
        (Ended(1), [Settle(Outcome.ANSWERED, 1)]),
    )


def test_a_finish_reason_without_text_releases_what_was_held() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"role, "), []),
        (
            Arrived(0, b"finish", finished=True),
            [
                STREAM_MAX,
                Clear(Timer.START, 0),
                idle(0, 10.0),
                Clear(Timer.OPEN),
                Open(0),
                Send(0, b"role, finish"),
                QUIET,
            ],
        ),
        (Ended(0), [Settle(Outcome.ANSWERED, 0)]),
    )


def test_an_end_without_a_token_is_an_answer_and_releases_what_was_held() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"role"), []),
        (
            Ended(0),
            [
                STREAM_MAX,
                Clear(Timer.OPEN),
                Open(0),
                Send(0, b"role"),
                QUIET,
                Settle(Outcome.ANSWERED, 0),
            ],
        ),
    )


def test_a_stream_that_opened_early_gets_what_was_held_with_the_first_token() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"role, "), []),
        (Rang(Timer.OPEN), [Open(None), KeepAlive(), QUIET]),
        (Arrived(0, b"empty, "), []),
        (Arrived(0, b"hi", token=True), [*began(0), Send(0, b"role, empty, hi"), QUIET]),
    )


def test_an_attempt_may_not_produce_bytes_without_a_token_for_ever() -> None:
    machine = stream()
    play(machine, BEGUN, (Arrived(0, b"x" * (9 << 20)), []))
    play(
        machine,
        (
            Arrived(0, b"x" * (9 << 20)),
            [Drop(0, "bad_answer"), Clear(Timer.START, 0), *call(1)],
        ),
    )


# Silence.


def test_a_slow_start_opens_early_keeps_the_line_warm_and_still_switches_routes() -> None:
    play(
        stream(),
        BEGUN,
        (Rang(Timer.QUIET), []),
        (Rang(Timer.OPEN), [Open(None), KeepAlive(), QUIET]),
        (Rang(Timer.QUIET), [KeepAlive(), QUIET]),
        (Rang(Timer.OPEN), []),
        (Rang(Timer.START, 0), [late(0), Clear(Timer.START, 0), *call(1)]),
        (Rang(Timer.QUIET), [KeepAlive(), QUIET]),
        (Failed(1, DOWN), [Clear(Timer.START, 1), SendFault(None), Settle(Outcome.FAILED, None)]),
    )


def test_silence_after_tokens_is_filled_too() -> None:
    play(stream(), BEGUN, TOKEN, (Rang(Timer.QUIET), [KeepAlive(), QUIET]))


def test_a_plain_request_never_opens_nor_keeps_alive() -> None:
    play(plain(), PLAIN_BEGUN, (Rang(Timer.OPEN), []), (Rang(Timer.QUIET), []))


# Deadlines.


def test_the_start_deadline_counts_anew_for_each_route_and_is_longer_at_high_effort() -> None:
    views = [CandidateView("m"), CandidateView("n", high_effort=True)]
    play(
        stream(views),
        BEGUN,
        (Rang(Timer.START, 0), [late(0), Clear(Timer.START, 0), *call(1, 1, 300.0)]),
        (Rang(Timer.START, 0), []),
        (Arrived(1, b"x", started=True), [Clear(Timer.START, 1), idle(1, 300.0)]),
        (
            Rang(Timer.IDLE, 1),
            [late(1), Clear(Timer.IDLE, 1), Refuse(None), Settle(Outcome.FAILED, None)],
        ),
    )


def test_a_candidate_may_bring_deadlines_of_its_own() -> None:
    views = [CandidateView("m", high_effort=True, start_deadline=7.0, idle_deadline=3.0)]
    play(
        stream(views),
        (Begin(), [OPEN, TOTAL, *call(0, 0, 7.0)]),
        (Arrived(0, started=True), [Clear(Timer.START, 0), idle(0, 3.0)]),
    )


def test_roles_pings_and_empty_deltas_do_not_satisfy_the_start_deadline() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"role", alive=True), []),
        (Arrived(0, b"", alive=True), []),
        (Rang(Timer.START, 0), [late(0), Clear(Timer.START, 0), *call(1)]),
    )


def test_a_thinking_block_satisfies_the_start_deadline_but_does_not_open() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"think, ", started=True), [Clear(Timer.START, 0), idle(0)]),
        (Rang(Timer.START, 0), []),
        (Arrived(0, b"ping, ", alive=True), [idle(0)]),
        (Arrived(0, b": comment, ", alive=False), []),
        (Rang(Timer.IDLE, 0), [late(0), Clear(Timer.IDLE, 0), *call(1)]),
    )


def test_after_a_thinking_block_the_first_token_opens() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"think, ", started=True), [Clear(Timer.START, 0), idle(0)]),
        (
            Arrived(0, b"hi", token=True),
            [STREAM_MAX, idle(0), Clear(Timer.OPEN), Open(0), Send(0, b"think, hi"), QUIET],
        ),
    )


def test_after_the_first_token_any_event_moves_the_idle_deadline_and_silence_breaks() -> None:
    play(
        stream(),
        BEGUN,
        TOKEN,
        (Arrived(0, b"", alive=True), [idle(0)]),
        (Arrived(0, b"", alive=False), []),
        (Rang(Timer.START, 0), []),
        (
            Rang(Timer.IDLE, 0),
            [late(0), SendFault(SILENT), Settle(Outcome.BROKEN, 0)],
        ),
    )


def test_the_idle_bell_means_nothing_before_anything_started() -> None:
    play(stream(), BEGUN, (Rang(Timer.IDLE, 0), []))


def test_a_half_open_probe_has_a_shorter_start_deadline() -> None:
    play(
        stream(),
        BEGUN,
        (Probing(0, 10.0), [start(0, 10.0)]),
        (Probing(0, 900.0), [start(0, 180.0)]),
        (Probing(4, 10.0), []),
        (Arrived(0, b"x", started=True), [Clear(Timer.START, 0), idle(0)]),
        (Probing(0, 10.0), []),
    )


def test_a_stream_waits_for_its_first_token_until_the_request_deadline_and_blames_no_route() -> (
    None
):
    play(
        stream(),
        BEGUN,
        (
            Rang(Timer.TOTAL),
            [Drop(0, "timeout", blame=False), Refuse(None), Settle(Outcome.FAILED, None)],
        ),
    )
    play(
        stream(),
        BEGUN,
        (Rang(Timer.OPEN), [Open(None), KeepAlive(), QUIET]),
        (
            Rang(Timer.TOTAL),
            [Drop(0, "timeout", blame=False), SendFault(None), Settle(Outcome.FAILED, None)],
        ),
    )


def test_after_its_first_token_a_stream_has_the_whole_stream_deadline() -> None:
    machine = stream()
    play(machine, BEGUN, TOKEN)
    assert machine.handle(Rang(Timer.TOTAL)) == [
        cancel(0),
        SendFault(Fault(FaultKind.TIMEOUT, "the answer took longer than a stream may")),
        Settle(Outcome.BROKEN, 0),
    ]


def test_a_whole_plain_answer_has_the_request_deadline() -> None:
    play(
        plain(),
        PLAIN_BEGUN,
        (Arrived(0, token=True), [Clear(Timer.START, 0), idle(0)]),
        (
            Rang(Timer.TOTAL),
            [Drop(0, "timeout", blame=False), Refuse(None), Settle(Outcome.FAILED, None)],
        ),
    )


def test_the_request_deadline_ends_the_wait_for_a_second_try() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, BUSY, at_once=True), [Clear(Timer.START, 0), RETRY]),
        (Rang(Timer.TOTAL), [Refuse(None), Settle(Outcome.FAILED, None)]),
        (Rang(Timer.RETRY, 0), []),
    )


# Late signals, and the way past the machine.


def test_a_request_begins_once() -> None:
    play(stream(), BEGUN, (Begin(), []))


def test_signals_of_an_attempt_that_is_over_change_nothing() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, DOWN), [Clear(Timer.START, 0), *call(1)]),
        (Arrived(0, b"late", token=True), []),
        (Arrived(0, b"late", finished=True), []),
        (Failed(0, REFUSED), []),
        (Ended(0), []),
        (Rang(Timer.START, 0), []),
        (Rang(Timer.IDLE, 0), []),
        (Skipped(0, 1.0), []),
    )


def test_steady_is_true_between_the_first_token_and_the_finish_reason() -> None:
    machine = stream()
    steps: tuple[tuple[Signal, bool], ...] = (
        (Begin(), False),
        (Arrived(0, b"role"), False),
        (Arrived(0, b"think", started=True), False),
        (Arrived(0, b"hi", token=True), True),
        (Arrived(0, b"ping", alive=True), True),
        (Rang(Timer.QUIET), True),
        (Arrived(0, b"end", finished=True), False),
        (Arrived(0, b"odd", token=True), False),
    )
    for signal, steady in steps:
        machine.handle(signal)
        assert (signal, machine.steady) == (signal, steady)


def test_nothing_is_steady_once_it_is_over() -> None:
    lasts = (Failed(0, DOWN), Ended(0), ClientGone(), ShuttingDown(), Rang(Timer.IDLE, 0))
    for last in lasts:
        machine = stream()
        play(machine, BEGUN, TOKEN)
        assert (machine.steady, machine.over) == (True, False)
        machine.handle(last)
        assert (machine.steady, machine.over) == (False, True)
