"""How a request ends, told as what happens and what must follow."""

from tests.relay.story import (
    BEGUN,
    BUSY,
    DOWN,
    PLAIN_BEGUN,
    QUIET,
    REFUSED,
    RETRY,
    STREAM_MAX,
    TOKEN,
    Script,
    call,
    cancel,
    idle,
    limited,
    plain,
    play,
    stream,
)
from zurelay.relay.machine import Timing
from zurelay.relay.signals import (
    Arrived,
    Clear,
    ClientGone,
    Failed,
    Open,
    Outcome,
    Rang,
    Refuse,
    Send,
    SendFault,
    Settle,
    ShuttingDown,
    Timer,
)

# A complete answer.


def test_a_failure_after_the_finish_reason_is_a_complete_answer() -> None:
    endings: tuple[Script, ...] = (
        (Failed(0, DOWN), [Settle(Outcome.ANSWERED, 0)]),
        (Failed(0, REFUSED), [Settle(Outcome.ANSWERED, 0)]),
        (Rang(Timer.IDLE, 0), [cancel(0), Settle(Outcome.ANSWERED, 0)]),
        (Rang(Timer.TOTAL), [cancel(0), Settle(Outcome.ANSWERED, 0)]),
        (ShuttingDown(), [cancel(0), Settle(Outcome.ANSWERED, 0)]),
    )
    for ending in endings:
        play(
            stream(),
            BEGUN,
            TOKEN,
            (Arrived(0, b"end", finished=True), [idle(0, 10.0), Send(0, b"end"), QUIET]),
            ending,
        )


def test_a_plain_answer_that_finished_is_whole_whatever_follows() -> None:
    endings: tuple[Script, ...] = (
        (Failed(0, DOWN), [Settle(Outcome.ANSWERED, 0)]),
        (Rang(Timer.IDLE, 0), [cancel(0), Settle(Outcome.ANSWERED, 0)]),
        (Rang(Timer.TOTAL), [cancel(0), Settle(Outcome.ANSWERED, 0)]),
        (ShuttingDown(), [cancel(0), Settle(Outcome.ANSWERED, 0)]),
    )
    for ending in endings:
        play(
            plain(),
            PLAIN_BEGUN,
            (Arrived(0, finished=True), [Clear(Timer.START, 0), idle(0, 10.0)]),
            ending,
        )


def test_a_finish_reason_after_thinking_has_its_deadline_whatever_else_it_is() -> None:
    play(
        plain(),
        PLAIN_BEGUN,
        (Arrived(0, started=True), [Clear(Timer.START, 0), idle(0)]),
        (Arrived(0, alive=False, finished=True), [idle(0, 10.0)]),
    )


def test_what_follows_a_finish_reason_does_not_stretch_its_deadline() -> None:
    play(
        stream(),
        BEGUN,
        TOKEN,
        (Arrived(0, b"end", finished=True), [idle(0, 10.0), Send(0, b"end"), QUIET]),
        (Arrived(0, b"usage", alive=True), [Send(0, b"usage"), QUIET]),
        (Arrived(0, b"", alive=True, finished=True), []),
    )


def test_a_shorter_idle_deadline_holds_after_the_finish_reason_as_well() -> None:
    play(
        stream(1, Timing(idle_deadline_s=2.0)),
        BEGUN,
        (
            Arrived(0, b"x", token=True, finished=True),
            [
                STREAM_MAX,
                Clear(Timer.START, 0),
                idle(0, 2.0),
                Clear(Timer.OPEN),
                Open(0),
                Send(0, b"x"),
                QUIET,
            ],
        ),
    )


def test_a_failure_in_mid_answer_never_ends_like_a_good_one() -> None:
    for fault in (DOWN, REFUSED, limited(1)):
        play(
            stream(),
            BEGUN,
            TOKEN,
            (Failed(0, fault, at_once=True), [SendFault(fault), Settle(Outcome.BROKEN, 0)]),
            (Arrived(0, b"late", token=True), []),
            (ClientGone(), []),
        )


# The caller and the process go away.


def test_a_caller_who_leaves_before_the_first_token_is_billed_no_attempt() -> None:
    play(
        stream(),
        BEGUN,
        (Arrived(0, b"x", started=True), [Clear(Timer.START, 0), idle(0)]),
        (ClientGone(), [cancel(0), Settle(Outcome.CLIENT_GONE, None)]),
    )


def test_a_caller_who_leaves_after_the_first_token_is_billed_that_attempt() -> None:
    play(stream(), BEGUN, TOKEN, (ClientGone(), [cancel(0), Settle(Outcome.CLIENT_GONE, 0)]))
    play(
        plain(),
        PLAIN_BEGUN,
        (Arrived(0, token=True), [Clear(Timer.START, 0), idle(0)]),
        (ClientGone(), [cancel(0), Settle(Outcome.CLIENT_GONE, 0)]),
    )


def test_no_second_try_starts_for_a_caller_who_left() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, BUSY, at_once=True), [Clear(Timer.START, 0), RETRY]),
        (ClientGone(), [Settle(Outcome.CLIENT_GONE, None)]),
        (Rang(Timer.RETRY, 0), []),
    )


def test_a_plain_attempt_that_failed_after_tokens_is_not_billed_when_the_caller_leaves() -> None:
    play(
        plain(),
        PLAIN_BEGUN,
        (Arrived(0, token=True), [Clear(Timer.START, 0), idle(0)]),
        (Failed(0, DOWN), [Clear(Timer.IDLE, 0), *call(1)]),
        (ClientGone(), [cancel(1), Settle(Outcome.CLIENT_GONE, None)]),
    )


def test_a_shutdown_refuses_what_was_not_sent_and_breaks_off_what_was() -> None:
    gone: Script = (ShuttingDown(), [cancel(0), Refuse(None), Settle(Outcome.FAILED, None)])
    play(stream(), BEGUN, gone)
    play(
        stream(),
        BEGUN,
        TOKEN,
        (ShuttingDown(), [cancel(0), SendFault(None), Settle(Outcome.BROKEN, 0)]),
    )
    play(
        plain(),
        PLAIN_BEGUN,
        (Arrived(0, token=True), [Clear(Timer.START, 0), idle(0)]),
        gone,
    )
