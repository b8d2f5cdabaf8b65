"""The relay's rules for several routes, told as what happens and what must follow."""

from tests.relay.story import (
    BEGUN,
    BUSY,
    DOWN,
    OPEN,
    PLAIN_BEGUN,
    POLICY,
    QUIET,
    REFUSED,
    RETRY,
    STREAM_MAX,
    TOO_LONG,
    TOTAL,
    Script,
    began,
    call,
    cancel,
    idle,
    late,
    limited,
    plain,
    play,
    skip,
    start,
    stream,
)
from zurelay.chat.faults import Fault, FaultKind
from zurelay.relay.machine import CandidateView, Timing
from zurelay.relay.signals import (
    Arrived,
    Begin,
    Call,
    Clear,
    ClientGone,
    Drop,
    Ended,
    Failed,
    KeepAlive,
    Open,
    Outcome,
    Rang,
    Refuse,
    Send,
    SendFault,
    Set,
    Settle,
    Skipped,
    Timer,
)

# Moving on.


def test_the_requests_own_fault_is_told_once_and_tried_nowhere_else() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, REFUSED), [Clear(Timer.START, 0), Refuse(REFUSED), Settle(Outcome.FAILED, 0)]),
    )
    play(
        stream(),
        BEGUN,
        (Rang(Timer.OPEN), [Open(None), KeepAlive(), QUIET]),
        (
            Failed(0, REFUSED),
            [Clear(Timer.START, 0), SendFault(REFUSED), Settle(Outcome.FAILED, 0)],
        ),
    )


def test_a_rejected_request_goes_to_no_listed_model_either() -> None:
    play(
        stream([CandidateView("m"), CandidateView("n", listed=True)]),
        BEGUN,
        (Failed(0, REFUSED), [Clear(Timer.START, 0), Refuse(REFUSED), Settle(Outcome.FAILED, 0)]),
    )


def test_overflow_and_content_policy_move_on_only_to_another_model_the_caller_listed() -> None:
    views = [
        CandidateView("m"),
        CandidateView("m"),
        CandidateView("fallback"),
        CandidateView("n", listed=True),
        CandidateView("n", listed=True),
        CandidateView("o", listed=True),
    ]
    for fault in (TOO_LONG, POLICY):
        play(
            stream(views),
            BEGUN,
            (Failed(0, fault), [Clear(Timer.START, 0), *call(1, 3)]),
            (Failed(1, DOWN), [Clear(Timer.START, 1), *call(2, 4)]),
            (Failed(2, fault), [Clear(Timer.START, 2), *call(3, 5)]),
            (
                Failed(3, DOWN),
                [Clear(Timer.START, 3), Refuse(fault), Settle(Outcome.FAILED, 0)],
            ),
        )


def test_overflow_without_a_listed_alternative_is_told_at_once() -> None:
    play(
        stream([CandidateView("m"), CandidateView("m"), CandidateView("fallback")]),
        BEGUN,
        (Failed(0, TOO_LONG), [Clear(Timer.START, 0), Refuse(TOO_LONG), Settle(Outcome.FAILED, 0)]),
    )


def test_a_listed_model_that_overflows_does_not_lead_back_to_its_own_routes() -> None:
    views = [CandidateView("m"), *[CandidateView("n", listed=True)] * 2]
    play(
        stream(views),
        BEGUN,
        (Failed(0, DOWN), [Clear(Timer.START, 0), *call(1)]),
        (Failed(1, TOO_LONG), [Clear(Timer.START, 1), Refuse(TOO_LONG), Settle(Outcome.FAILED, 1)]),
    )


def test_a_rejection_by_an_alternative_is_told_rather_than_the_overflow_before_it() -> None:
    play(
        stream([CandidateView("m"), CandidateView("n", listed=True)]),
        BEGUN,
        (Failed(0, TOO_LONG), [Clear(Timer.START, 0), *call(1)]),
        (Failed(1, REFUSED), [Clear(Timer.START, 1), Refuse(REFUSED), Settle(Outcome.FAILED, 1)]),
    )


def test_overflow_stays_what_is_told_when_time_runs_out_on_the_alternative() -> None:
    play(
        stream([CandidateView("m"), CandidateView("n", listed=True)]),
        BEGUN,
        (Failed(0, TOO_LONG), [Clear(Timer.START, 0), *call(1)]),
        (
            Rang(Timer.TOTAL),
            [Drop(1, "timeout", blame=False), Refuse(TOO_LONG), Settle(Outcome.FAILED, 0)],
        ),
    )


def test_attempts_are_bounded() -> None:
    play(
        stream(5, Timing(attempts=2)),
        BEGUN,
        (Failed(0, DOWN), [Clear(Timer.START, 0), *call(1)]),
        (Failed(1, DOWN), [Clear(Timer.START, 1), Refuse(None), Settle(Outcome.FAILED, None)]),
    )


def test_without_any_candidate_the_request_is_refused() -> None:
    play(
        stream(0),
        (Begin(), [OPEN, TOTAL, Refuse(None), Settle(Outcome.FAILED, None)]),
        (Begin(), []),
    )


def test_a_plain_request_moves_on_even_after_tokens_since_nothing_was_sent() -> None:
    machine = plain()
    play(
        machine,
        PLAIN_BEGUN,
        (Arrived(0, token=True), [Clear(Timer.START, 0), idle(0)]),
        (Failed(0, DOWN), [Clear(Timer.IDLE, 0), *call(1)]),
    )
    assert not machine.steady
    play(machine, (Ended(1), [Settle(Outcome.ANSWERED, 1)]), (Ended(1), []))


def test_a_plain_answer_that_came_in_one_piece() -> None:
    play(plain(), PLAIN_BEGUN, (Ended(0), [Settle(Outcome.ANSWERED, 0)]))


# Second tries on the same route.


def test_a_failure_at_once_is_tried_once_more_after_jitter_then_the_next_route() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, BUSY, at_once=True), [Clear(Timer.START, 0), RETRY]),
        (Rang(Timer.RETRY, 7), []),
        (Rang(Timer.RETRY, 0), call(1, 0)),
        (Rang(Timer.RETRY, 0), []),
        (Failed(1, BUSY, at_once=True), [Clear(Timer.START, 1), *call(2, 1)]),
    )


def test_a_failure_that_took_its_time_is_not_repeated() -> None:
    play(stream(), BEGUN, (Failed(0, BUSY), [Clear(Timer.START, 0), *call(1)]))


def test_no_second_try_without_room_in_the_budget() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, BUSY, at_once=True, may_repeat=False), [Clear(Timer.START, 0), *call(1)]),
    )


def test_no_second_try_against_a_retry_after() -> None:
    busy = Fault(FaultKind.OVERLOADED, status=503, retry_after=1.0)
    play(stream(), BEGUN, (Failed(0, busy, at_once=True), [Clear(Timer.START, 0), *call(1)]))


def test_a_second_try_counts_as_an_attempt() -> None:
    play(
        stream(2, Timing(attempts=1)),
        BEGUN,
        (
            Failed(0, BUSY, at_once=True),
            [Clear(Timer.START, 0), Refuse(None), Settle(Outcome.FAILED, None)],
        ),
    )


def test_second_tries_take_no_other_routes_place() -> None:
    play(
        stream(3, Timing(attempts=4)),
        BEGUN,
        (Failed(0, BUSY, at_once=True), [Clear(Timer.START, 0), RETRY]),
        (Rang(Timer.RETRY, 0), call(1, 0)),
        (Failed(1, BUSY, at_once=True), [Clear(Timer.START, 1), *call(2, 1)]),
        (Failed(2, BUSY, at_once=True), [Clear(Timer.START, 2), *call(3, 2)]),
    )


# Routes that cannot be asked now.


def test_a_skipped_route_is_no_attempt() -> None:
    play(
        stream(3, Timing(attempts=1)),
        BEGUN,
        (Skipped(0), [skip(0), *call(1)]),
        (Skipped(0), []),
        (Skipped(1, 30.0), [skip(1), *call(2)]),
        (Failed(2, DOWN), [Clear(Timer.START, 2), Refuse(None), Settle(Outcome.FAILED, None)]),
    )


def test_when_all_rest_a_short_wait_is_waited_and_all_are_asked_again() -> None:
    play(
        stream(),
        BEGUN,
        (Skipped(0, 4.0), [skip(0), *call(1)]),
        (Skipped(1, 3.0), [skip(1), Set(Timer.REST, 3.0)]),
        (Rang(Timer.REST), call(2, 0)),
        (Rang(Timer.REST), []),
        (Skipped(2, 1.0), [skip(2), *call(3, 1)]),
        (Ended(3), [STREAM_MAX, Clear(Timer.OPEN), Open(3), QUIET, Settle(Outcome.ANSWERED, 3)]),
    )


def test_when_all_rest_for_long_the_shortest_wait_is_told() -> None:
    play(
        stream(),
        BEGUN,
        (Skipped(0, 40.0), [skip(0), *call(1)]),
        (Skipped(1, 5.5), [skip(1), Refuse(None, 5.5), Settle(Outcome.FAILED, None)]),
    )


def test_waits_add_up_to_five_seconds_at_most() -> None:
    play(
        stream(1),
        BEGUN,
        (Skipped(0, 3.0), [skip(0), Set(Timer.REST, 3.0)]),
        (Rang(Timer.REST), call(1, 0)),
        (Skipped(1, 2.5), [skip(1), Refuse(None, 2.5), Settle(Outcome.FAILED, None)]),
    )


def test_others_may_be_quicker_only_so_often() -> None:
    play(
        stream(1),
        BEGUN,
        (Skipped(0, 0.1), [skip(0), Set(Timer.REST, 0.1)]),
        (Rang(Timer.REST), call(1, 0)),
        (Skipped(1, 0.1), [skip(1), Set(Timer.REST, 0.1)]),
        (Rang(Timer.REST), call(2, 0)),
        (Skipped(2, 0.1), [skip(2), Set(Timer.REST, 0.1)]),
        (Rang(Timer.REST), call(3, 0)),
        (Skipped(3, 0.1), [skip(3), Refuse(None, 0.1), Settle(Outcome.FAILED, None)]),
    )


def test_no_wait_is_told_when_a_route_is_away_for_another_reason() -> None:
    play(
        stream(),
        BEGUN,
        (Skipped(0, 40.0), [skip(0), *call(1)]),
        (Skipped(1), [skip(1), Refuse(None), Settle(Outcome.FAILED, None)]),
    )


def test_a_resting_route_is_worth_a_short_wait_after_another_failed() -> None:
    play(
        stream(),
        BEGUN,
        (Skipped(0, 2.0), [skip(0), *call(1)]),
        (Failed(1, DOWN), [Clear(Timer.START, 1), Set(Timer.REST, 2.0)]),
        (Rang(Timer.REST), call(2, 0)),
    )


def test_the_only_route_is_asked_again_after_the_short_retry_after_it_gave() -> None:
    play(
        stream(1),
        BEGUN,
        (Failed(0, limited(3.0)), [Clear(Timer.START, 0), Set(Timer.REST, 3.0)]),
        (Rang(Timer.REST), call(1, 0)),
        (
            Failed(1, limited(1.0)),
            [Clear(Timer.START, 1), Refuse(None, 1.0), Settle(Outcome.FAILED, None)],
        ),
    )


def test_a_long_retry_after_is_told_at_once() -> None:
    play(
        stream(1),
        BEGUN,
        (
            Failed(0, limited(60.0)),
            [Clear(Timer.START, 0), Refuse(None, 60.0), Settle(Outcome.FAILED, None)],
        ),
    )


def test_a_route_that_gave_a_retry_after_is_asked_again_only_if_all_rest() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, limited(2.0)), [Clear(Timer.START, 0), *call(1)]),
        (Failed(1, DOWN), [Clear(Timer.START, 1), Refuse(None), Settle(Outcome.FAILED, None)]),
    )
    play(
        stream(),
        BEGUN,
        (Failed(0, limited(4.0)), [Clear(Timer.START, 0), *call(1)]),
        (Failed(1, limited(2.0)), [Clear(Timer.START, 1), Set(Timer.REST, 2.0)]),
        (Rang(Timer.REST), call(2, 0)),
        (Skipped(2, 2.0), [skip(2), *call(3, 1)]),
    )


def test_such_a_second_call_needs_room_in_the_budget_too() -> None:
    play(
        stream(1),
        BEGUN,
        (
            Failed(0, limited(3.0), may_repeat=False),
            [Clear(Timer.START, 0), Refuse(None, 3.0), Settle(Outcome.FAILED, None)],
        ),
    )


def test_a_route_that_must_not_be_asked_again_is_passed_over_when_others_have_rested() -> None:
    play(
        stream(),
        BEGUN,
        (Failed(0, limited(1.0), may_repeat=False), [Clear(Timer.START, 0), *call(1)]),
        (Skipped(1, 2.0), [skip(1), Set(Timer.REST, 2.0)]),
        (Rang(Timer.REST), call(2, 1)),
    )


def test_a_resting_route_of_a_model_that_overflowed_is_not_waited_for() -> None:
    play(
        stream(),
        BEGUN,
        (Skipped(0, 1.0), [skip(0), *call(1)]),
        (Failed(1, TOO_LONG), [Clear(Timer.START, 1), Refuse(TOO_LONG), Settle(Outcome.FAILED, 1)]),
    )


def test_the_request_deadline_ends_the_wait_for_a_resting_route() -> None:
    play(
        stream(1),
        BEGUN,
        (Skipped(0, 3.0), [skip(0), Set(Timer.REST, 3.0)]),
        (Rang(Timer.OPEN), [Open(None), KeepAlive(), QUIET]),
        (Rang(Timer.TOTAL), [SendFault(None), Settle(Outcome.FAILED, None)]),
        (Rang(Timer.REST), []),
    )


# A second route beside a slow first one.

HEDGED = Timing(hedge=True)
PAIR = [CandidateView("m", hedge_after=2.0), CandidateView("m", hedge_after=2.0)]
HEDGE_BEGUN: Script = (
    Begin(),
    [OPEN, TOTAL, start(0), Set(Timer.HEDGE, 2.0, 0), Call(0, 0)],
)


def test_whoever_of_a_hedged_pair_speaks_first_is_kept() -> None:
    for first, other in ((0, 1), (1, 0)):
        play(
            stream(PAIR, HEDGED),
            HEDGE_BEGUN,
            (Rang(Timer.HEDGE, 0), call(1)),
            (Arrived(0, b"role of A, "), []),
            (Arrived(1, b"role of A, "), []),
            (
                Arrived(first, b"hi", token=True),
                [
                    cancel(other),
                    *began(first),
                    Clear(Timer.OPEN),
                    Open(first),
                    Send(first, b"role of A, hi"),
                    QUIET,
                ],
            ),
            (Arrived(other, b"late", token=True), []),
            (Failed(other, DOWN), []),
        )


def test_a_hedged_pair_loses_one_and_runs_on() -> None:
    play(
        stream([*PAIR, CandidateView("m")], HEDGED),
        HEDGE_BEGUN,
        (Rang(Timer.HEDGE, 0), call(1)),
        (Rang(Timer.HEDGE, 0), []),
        (Rang(Timer.HEDGE, 1), []),
        (Failed(0, BUSY, at_once=True), [Clear(Timer.START, 0)]),
        (Rang(Timer.START, 1), [late(1), Clear(Timer.START, 1), *call(2)]),
    )


def test_a_plain_pair_is_decided_by_the_whole_answer_where_no_token_is_seen() -> None:
    play(
        plain(PAIR, HEDGED),
        (Begin(), [TOTAL, start(0), Set(Timer.HEDGE, 2.0, 0), Call(0, 0)]),
        (Rang(Timer.HEDGE, 0), call(1)),
        (Ended(1), [cancel(0), Settle(Outcome.ANSWERED, 1)]),
    )


def test_no_hedge_once_the_first_route_thinks_or_none_is_left_or_tries_are_used_up() -> None:
    begun = HEDGE_BEGUN
    play(
        stream(PAIR, HEDGED),
        begun,
        (Arrived(0, started=True), [Clear(Timer.START, 0), idle(0)]),
        (Rang(Timer.HEDGE, 0), []),
    )
    play(stream([PAIR[0], CandidateView("n")], HEDGED), begun, (Rang(Timer.HEDGE, 0), []))
    play(stream(PAIR, Timing(hedge=True, attempts=1)), begun, (Rang(Timer.HEDGE, 0), []))


def test_hedging_is_off_by_default() -> None:
    play(stream(PAIR), BEGUN, (Rang(Timer.HEDGE, 0), []))


def test_a_hedge_that_could_not_be_leaves_its_route_for_failover() -> None:
    play(
        stream(PAIR, HEDGED),
        HEDGE_BEGUN,
        (Rang(Timer.HEDGE, 0), call(1)),
        (Skipped(1), [skip(1)]),
        (Rang(Timer.HEDGE, 0), []),
        (Failed(0, DOWN), [Clear(Timer.START, 0), *call(2, 1)]),
    )


def test_both_of_a_hedged_pair_end_with_the_requests_own_fault_or_its_caller() -> None:
    pair = (HEDGE_BEGUN, (Rang(Timer.HEDGE, 0), call(1)))
    play(
        stream(PAIR, HEDGED),
        *pair,
        (
            Failed(0, REFUSED),
            [Clear(Timer.START, 0), cancel(1), Refuse(REFUSED), Settle(Outcome.FAILED, 0)],
        ),
    )
    play(
        stream(PAIR, HEDGED),
        *pair,
        (ClientGone(), [cancel(0), cancel(1), Settle(Outcome.CLIENT_GONE, None)]),
    )
    play(
        stream(PAIR, HEDGED),
        *pair,
        (
            Rang(Timer.TOTAL),
            [
                Drop(0, "timeout", blame=False),
                Drop(1, "timeout", blame=False),
                Refuse(None),
                Settle(Outcome.FAILED, None),
            ],
        ),
    )
