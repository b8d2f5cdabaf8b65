"""Which faults another route may mend, and the one word callers hear of each."""

import pytest

from zurelay.chat.faults import REQUESTS_OWN, Fault, FaultKind

SHOWN = {
    "connect",
    "timeout",
    "rate_limited",
    "overloaded",
    "refused_credential",
    "bad_answer",
    "empty",
}


@pytest.mark.parametrize("kind", FaultKind)
def test_callers_hear_one_of_seven_words(kind: FaultKind) -> None:
    assert Fault(kind).shown in SHOWN


def test_that_the_operator_owes_money_is_not_shown() -> None:
    assert Fault(FaultKind.OUT_OF_CREDIT).shown == "refused_credential"


def test_only_what_the_request_itself_is_at_fault_for_stays() -> None:
    assert {kind for kind in FaultKind if not Fault(kind).moves_on} == REQUESTS_OWN
    assert {
        FaultKind.REJECTED,
        FaultKind.CONTEXT_OVERFLOW,
        FaultKind.CONTENT_POLICY,
    } == REQUESTS_OWN
