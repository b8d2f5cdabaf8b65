import pytest

from zurelay.chat.problems import Problem
from zurelay.meter import quota
from zurelay.meter.limits import NEVER, Bound, Standing

KEY = Bound("key:a", "key", rpm=60, tpm=1000, concurrency=4)
ACCOUNT = Bound("account:a", "account", rpm=100, tpm=900)
FREE = Bound("model:m", "model")
AT = 1_800_000_000.0  # 2027-01-15T08:00:00Z


def refusal(*pairs: tuple[Bound, Standing], least: int = 0, anthropic: bool = False) -> Problem:
    bounds, standings = [one for one, _ in pairs], [one for _, one in pairs]
    return quota.refusal(bounds, standings, least, AT, anthropic=anthropic).problem


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0s"),
        (1, "1ms"),
        (999, "999ms"),
        (1000, "1s"),
        (12_500, "12.5s"),
        (12_050, "12.05s"),
        (59_999, "59.999s"),
        (60_000, "1m0s"),
        (360_000, "6m0s"),
        (90_951, "1m30.951s"),
        (3_600_000, "1h0m0s"),
    ],
)
def test_a_time_is_written_as_openai_writes_it(milliseconds: int, text: str) -> None:
    assert quota.duration(milliseconds) == text


def test_a_moment_is_the_first_whole_second_not_before_it() -> None:
    assert quota.moment(AT) == "2027-01-15T08:00:00Z"
    assert quota.moment(AT + 0.001) == "2027-01-15T08:00:01Z"


def test_the_tightest_bound_speaks_for_requests_and_for_tokens() -> None:
    standings = [
        Standing(30, 100, 1, 60_000, 50_000),
        Standing(80, 20, 1, 9_000, 8_000),
        Standing(),
    ]
    assert quota.rests([KEY, ACCOUNT, FREE], standings) == [
        quota.Rest("requests", 100, 20, 9_000),
        quota.Rest("tokens", 900, 880, 8_000),
    ]
    assert quota.rests([FREE], [Standing(5, 5)]) == []


def test_less_than_nothing_is_never_left() -> None:
    (requests, tokens) = quota.rests([KEY], [Standing(61, 4000)])
    assert (requests.remaining, tokens.remaining) == (0, 0)


def test_openais_headers_count_down_until_they_are_sent() -> None:
    found = [quota.Rest("requests", 60, 59, 60_000), quota.Rest("tokens", 1000, 640, 800)]
    assert quota.headers(found, AT, AT, anthropic=False) == [
        (b"x-ratelimit-limit-requests", b"60"),
        (b"x-ratelimit-remaining-requests", b"59"),
        (b"x-ratelimit-reset-requests", b"1m0s"),
        (b"x-ratelimit-limit-tokens", b"1000"),
        (b"x-ratelimit-remaining-tokens", b"640"),
        (b"x-ratelimit-reset-tokens", b"800ms"),
    ]
    later = dict(quota.headers(found, AT, AT + 2.5, anthropic=False))
    assert later[b"x-ratelimit-reset-requests"] == b"57.5s"
    assert later[b"x-ratelimit-reset-tokens"] == b"0s"


def test_anthropics_headers_name_the_moment() -> None:
    found = [quota.Rest("tokens", 1000, 640, 60_000)]
    assert quota.headers(found, AT, AT + 9, anthropic=True) == [
        (b"anthropic-ratelimit-tokens-limit", b"1000"),
        (b"anthropic-ratelimit-tokens-remaining", b"640"),
        (b"anthropic-ratelimit-tokens-reset", b"2027-01-15T08:01:00Z"),
    ]


def test_a_refusal_names_the_limit_and_the_wait() -> None:
    problem = refusal((KEY, Standing(60, 10, 0, 20_000, 20_000, wait=12_345)))
    assert (problem.status, problem.type, problem.code) == (
        429,
        "rate_limit_error",
        "rate_limit_exceeded",
    )
    assert problem.message == (
        "Rate limit reached for this key: 60 requests per minute. Try again in 12.345s."
    )
    assert problem.retry_after == 13
    told = dict(problem.headers)
    assert told[b"retry-after-ms"] == b"12345"
    assert told[b"x-ratelimit-remaining-requests"] == b"0"
    assert told[b"x-ratelimit-reset-requests"] == b"20s"


def test_the_bound_that_keeps_it_out_the_longest_is_named() -> None:
    problem = refusal(
        (KEY, Standing(60, wait=1_000)), (ACCOUNT, Standing(3, 900, wait=2_000)), (FREE, Standing())
    )
    assert "this account: 900 tokens per minute" in problem.message
    assert problem.retry_after == 2


def test_too_many_at_once_come_again_in_a_second() -> None:
    problem = refusal((KEY, Standing(5, 5, held=4)))
    assert "at once for this key: the limit is 4" in problem.message
    assert problem.retry_after == 1


def test_a_wait_for_a_rate_outlasts_one_for_a_place() -> None:
    assert refusal((KEY, Standing(60, 5, held=4, wait=30_000))).retry_after == 30


@pytest.mark.parametrize("anthropic", [False, True])
def test_what_can_never_fit_is_not_to_be_tried_again(anthropic: bool) -> None:
    problem = refusal((KEY, Standing()), least=1001, anthropic=anthropic)
    assert problem.status == 429
    assert problem.should_retry is False
    assert problem.retry_after is None
    assert "its input is about 1001 tokens, and the limit is 1000" in problem.message
    name = b"anthropic-ratelimit-tokens-limit" if anthropic else b"x-ratelimit-limit-tokens"
    assert dict(problem.headers)[name] == b"1000"


def test_a_limit_of_nought_lets_nothing_in_and_says_so() -> None:
    problem = refusal((Bound("model:m", "model", rpm=0), Standing(wait=NEVER)))
    assert problem.should_retry is False
    assert "this model, all callers together: 0 requests" in problem.message
