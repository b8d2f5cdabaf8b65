import pytest

from zurelay.sandbox.behaviour import parse
from zurelay.sandbox.errors import told


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", "invalid_value"),
        (401, "invalid_request_error", "invalid_api_key"),
        (402, "insufficient_quota", "insufficient_quota"),
        (418, "invalid_request_error", None),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (500, "server_error", None),
        (502, "server_error", None),
        (503, "service_unavailable_error", "server_is_overloaded"),
        (529, "overloaded_error", "overloaded"),
    ],
)
def test_an_error_has_the_type_and_code_of_its_status(
    status: int, kind: str, code: str | None
) -> None:
    problem = told(parse(f"error?status={status}"))
    assert (problem.status, problem.type, problem.code) == (status, kind, code)
    assert str(status) in problem.message


def test_a_code_can_be_asked_for() -> None:
    assert told(parse("error?status=400&code=context_length_exceeded")).code == (
        "context_length_exceeded"
    )


def test_a_rate_limit_says_when_to_come_back_in_whole_seconds() -> None:
    assert told(parse("rate-limit?retry_after=2")).retry_after == 2
    assert told(parse("rate-limit?retry_after=0.2")).retry_after == 1
    assert told(parse("error")).retry_after is None
    assert told(parse("error?retry_after=9")).retry_after == 9
