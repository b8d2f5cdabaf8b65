import msgspec
import pytest

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt, AutoChoice, RankedModel, RequestRecord
from zurelay.meter.tariff import Tariff
from zurelay.meter.view import record_view

CONTRACT_FIELDS = [
    "id",
    "created",
    "key",
    "model",
    "answered_by",
    "routed_from",
    "status",
    "http_status",
    "error",
    "stream",
    "effort_asked",
    "effort",
    "finish_reason",
    "usage",
    "cost_usd",
    "cost_estimated",
    "charges",
    "attempts",
    "first_token_ms",
    "duration_ms",
    "dropped",
    "user",
    "metadata",
    "client",
]


def a_record(**changes: object) -> RequestRecord:
    record = RequestRecord(
        id="req_1",
        created=1_795_977_627.123456,
        account="acct_1",
        key="key_1",
        endpoint="/v1/chat/completions",
        model="gpt-6-sol",
        status="ok",
        http_status=200,
        answered_by="gpt-6-sol",
        usage=Usage(input=3, cache_write=12304, output=550),
        cost=54_399_000,
        attempts=[
            Attempt("openai:up-1", 1, "gpt-6-sol", "failed", 0.1, 9.87654, None, "out_of_credit",
                    402, "org-77 has no credit"),
            Attempt("azure:up-2", 2, "gpt-6-sol", "ok", 10.0, 900.5, 120.25),
        ],
        dropped=("seed",),
        safety_identifier="s",
    )  # fmt: skip
    return msgspec.structs.replace(record, **changes)


def test_a_caller_sees_exactly_the_fields_that_are_promised() -> None:
    view = record_view(a_record())
    assert list(view) == CONTRACT_FIELDS
    assert view["cost_usd"] == "0.054399"
    assert view["created"] == 1_795_977_627.123
    assert view["usage"]["total_tokens"] == 12857
    assert view["dropped"] == ["seed"]
    assert view["attempts"] == [
        {
            "route": 1,
            "status": "failed",
            "reason": "refused_credential",
            "start_ms": 0.1,
            "first_token_ms": None,
            "end_ms": 9.877,
        },
        {
            "route": 2,
            "status": "ok",
            "reason": None,
            "start_ms": 10.0,
            "first_token_ms": 120.25,
            "end_ms": 900.5,
        },
    ]


def test_a_charge_is_shown_by_lines_that_sum_to_it() -> None:
    by = Tariff({"input": "3.00", "cache_write": "3.75", "output": "15.00"}, markup=2_000_000)
    view = record_view(a_record(tariff=by, cost=108_798_000))
    assert view["charges"] == [
        {"of": "input", "count": 3, "price_usd": "6.00", "cost_usd": "0.000018"},
        {"of": "cache_write", "count": 12304, "price_usd": "7.50", "cost_usd": "0.09228"},
        {"of": "output", "count": 550, "price_usd": "30.00", "cost_usd": "0.0165"},
    ]
    assert record_view(a_record(usage=None, cost=0))["charges"] == []


def test_nothing_of_the_operators_reaches_a_caller() -> None:
    text = msgspec.json.encode(record_view(a_record())).decode()
    for secret in ("up-1", "openai:", "org-77", "out_of_credit", "acct_1"):
        assert secret not in text


def test_an_operator_sees_everything() -> None:
    view = record_view(a_record(), operator=True)
    assert view["account"] == "acct_1"
    assert view["endpoint"] == "/v1/chat/completions"
    assert view["attempts"][0] | {"end_ms": 0} == {
        "route": 1,
        "status": "failed",
        "reason": "out_of_credit",
        "start_ms": 0.1,
        "first_token_ms": None,
        "end_ms": 0,
        "route_id": "openai:up-1",
        "model": "gpt-6-sol",
        "http_status": 402,
        "detail": "org-77 has no credit",
        "cost_usd": "0",
    }


@pytest.mark.parametrize("kind", FaultKind)
def test_every_reason_becomes_the_word_callers_know(kind: FaultKind) -> None:
    attempt = Attempt("r", 1, "m", "failed", 0.0, reason=kind.value)
    shown = record_view(a_record(attempts=[attempt]))["attempts"][0]["reason"]
    assert shown == Fault(kind).shown


def test_a_cancelled_attempt_has_no_reason() -> None:
    attempt = Attempt("r", 1, "m", "cancelled", 0.0, reason="cancelled")
    assert record_view(a_record(attempts=[attempt]))["attempts"][0]["reason"] is None


def test_a_caller_sees_which_empty_answer_it_paid_for() -> None:
    attempt = Attempt("r", 1, "m", "failed", 0.0, reason="empty", cost=1000, charged=2000)
    shown = record_view(a_record(attempts=[attempt]))["attempts"][0]
    assert shown["charged_usd"] == "0.000002"
    assert "cost_usd" not in shown


def test_a_running_request_has_no_status_or_usage_yet() -> None:
    running = RequestRecord("req_2", 1.0, "acct_1", "key_1", "/v1/chat/completions", "m")
    view = record_view(running)
    assert (view["status"], view["http_status"], view["usage"]) == ("running", None, None)
    assert view["cost_usd"] == "0"


def test_usage_is_told_as_chat_completions_tells_it() -> None:
    told = record_view(a_record(usage=Usage(input=1, cached_input=2, output=3, reasoning=1)))
    assert told["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 3,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    usage = Usage(cache_write=1, cache_write_long=2, audio_input=4, output=8, audio_output=16)
    assert record_view(a_record(usage=usage))["usage"] == {
        "prompt_tokens": 7,
        "completion_tokens": 24,
        "total_tokens": 31,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 3, "audio_tokens": 4},
        "completion_tokens_details": {"audio_tokens": 16},
    }


def test_a_smart_choice_is_shown_where_there_was_one() -> None:
    choice = AutoChoice(
        "strong",
        "Because.",
        {"kind": "chat"},
        [RankedModel("m", "light", 1_500), RankedModel("n", "x")],
    )
    assert "auto" not in record_view(a_record())
    view = record_view(a_record(auto=choice))
    assert view["auto"] == {
        "tier": "strong",
        "reason": "Because.",
        "features": {"kind": "chat"},
        "ranking": [
            {"model": "m", "tier": "light", "expected_cost_usd": "0.0000015"},
            {"model": "n", "tier": "x", "expected_cost_usd": None},
        ],
    }
