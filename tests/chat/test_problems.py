"""What a caller is told when there is no answer."""

import pytest

from zurelay.chat import problems
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.problems import FailedAttempt, Problem

K = FaultKind


def failed(*kinds: FaultKind, retry_after: float | None = None) -> list[FailedAttempt]:
    return [
        FailedAttempt(place, "m", Fault(kind, "SECRET words", retry_after=retry_after))
        for place, kind in enumerate(kinds, start=1)
    ]


@pytest.mark.parametrize(
    ("kinds", "status", "code"),
    [
        ((K.TIMEOUT, K.TIMEOUT), 504, "upstream_timeout"),
        ((K.OVERLOADED, K.RATE_LIMITED), 503, "no_route_available"),
        ((K.OVERLOADED, K.TIMEOUT), 502, "upstream_failed"),
        ((K.REFUSED_CREDENTIAL,), 502, "upstream_failed"),
        ((K.RATE_LIMITED,), 429, "rate_limit_exceeded"),
        ((), 503, "no_route_available"),
    ],
)
def test_how_all_routes_failed_decides_the_status(
    kinds: tuple[FaultKind, ...], status: int, code: str
) -> None:
    problem = problems.of_attempts(failed(*kinds))
    assert (problem.status, problem.code) == (status, code)
    assert "SECRET" not in problem.message


def test_a_client_is_told_not_to_ask_again_where_every_route_was_tried() -> None:
    assert problems.of_attempts(failed(K.BAD_ANSWER)).should_retry is False


def test_all_resting_is_a_429_with_the_shortest_wait_in_whole_seconds() -> None:
    assert problems.of_attempts([], 2.2).retry_after == 3
    told = problems.of_attempts(failed(K.RATE_LIMITED, K.RATE_LIMITED, retry_after=7.0))
    assert told.retry_after == 7


def test_the_message_names_route_and_model_and_the_word_for_why() -> None:
    message = problems.of_attempts(failed(K.CONNECT, K.EMPTY)).message
    assert "route 1 (m): connect" in message
    assert "route 2 (m): empty" in message


def test_a_message_ends_with_one_full_stop_whatever_the_provider_said() -> None:
    told = FailedAttempt(1, "m", Fault(K.RATE_LIMITED), said="Try again in 2s.")
    assert problems.of_attempts([told]).message.endswith("said: Try again in 2s.")


def test_the_requests_own_fault_keeps_the_providers_words_and_status() -> None:
    fault = Fault(K.REJECTED, "no such field", "tools", "bad_tools", "invalid", 422)
    assert problems.of_fault(fault) == Problem(
        422, "invalid", "bad_tools", "no such field", "tools"
    )


def test_overflow_and_content_policy_are_400_whatever_the_provider_said() -> None:
    overflow = problems.of_fault(Fault(K.CONTEXT_OVERFLOW, status=413))
    assert (overflow.status, overflow.code) == (400, "context_length_exceeded")
    policy = problems.of_fault(Fault(K.CONTENT_POLICY, status=403))
    assert (policy.status, policy.code) == (400, "content_policy_violation")


def test_an_upstream_status_that_clients_would_repeat_says_not_to() -> None:
    assert problems.of_fault(Fault(K.REJECTED, status=409)).should_retry is False
    assert problems.of_fault(Fault(K.REJECTED, status=400)).should_retry is None
