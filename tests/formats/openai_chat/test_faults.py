"""Error answers of every dialect, as one vocabulary."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.openai_chat.faults import fault

K = FaultKind
ZAI = Profile(
    out_of_credit=frozenset({(429, "1113")}),
    rate_limit_codes=frozenset({"1302"}),
    content_codes=frozenset({"1301"}),
    overflow_codes=frozenset({"1261"}),
)


def read(status: int, body: Any, profile: Profile | None = None, **headers: str) -> Fault:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fault(status, named, raw, 1000.0, profile or Profile())


def error(**fields: Any) -> Any:
    return {"error": {"message": "m", **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error(type="invalid_request_error"), K.REJECTED),
        (400, error(code="context_length_exceeded"), K.CONTEXT_OVERFLOW),
        (400, error(type="exceed_context_size_error"), K.CONTEXT_OVERFLOW),
        (400, error(message="This model's maximum context length is 8192 tokens."), K.CONTEXT_OVERFLOW),
        (400, error(message="Please reduce the length of the messages or completion."), K.CONTEXT_OVERFLOW),
        (400, error(message="Range of input length should be [1, 30720]"), K.CONTEXT_OVERFLOW),
        (400, {"message": "too many tokens: size limit exceeded by 5 tokens"}, K.CONTEXT_OVERFLOW),
        (403, error(message="input is longer than the model's context length"), K.CONTEXT_OVERFLOW),
        (413, error(message="Request too large: 9000 tokens"), K.CONTEXT_OVERFLOW),
        (413, error(message="body too big"), K.REJECTED),
        (429, error(message="Too many tokens, please wait (throttled)"), K.RATE_LIMITED),
        (400, error(message="too many tokens per minute"), K.REJECTED),
        (400, error(code="content_filter", innererror={}), K.CONTENT_POLICY),
        (400, error(code="content_policy_violation"), K.CONTENT_POLICY),
        (403, error(code=403, metadata={"reasons": ["x"], "flagged_input": "y"}), K.CONTENT_POLICY),
        (401, error(code="invalid_api_key"), K.REFUSED_CREDENTIAL),
        (403, error(), K.REFUSED_CREDENTIAL),
        (400, error(code="invalid_api_key"), K.REFUSED_CREDENTIAL),
        (402, error(), K.OUT_OF_CREDIT),
        (402, b"", K.OUT_OF_CREDIT),
        (429, error(type="insufficient_quota", code="insufficient_quota"), K.OUT_OF_CREDIT),
        (429, error(type="insufficient_quota", code="credit_balance_exhausted"), K.OUT_OF_CREDIT),
        (429, error(type="exceeded_current_quota_error"), K.OUT_OF_CREDIT),
        (429, error(code="org_spend_limit_exceeded"), K.OUT_OF_CREDIT),
        (400, error(message="insufficient_quota: you have no credit"), K.REJECTED),
        (429, error(code="rate_limit_exceeded"), K.RATE_LIMITED),
        (429, error(message="Request too large for gpt on tokens per min", type="tokens"), K.REJECTED),
        (429, error(type="engine_overloaded_error"), K.OVERLOADED),
        (404, error(code="model_not_found"), K.MODEL_MISSING),
        (404, error(param="model"), K.MODEL_MISSING),
        (404, error(param="previous_response_id"), K.REJECTED),
        (403, error(code="model_not_found"), K.MODEL_MISSING),
        (404, b"<html>nope</html>", K.MODEL_MISSING),
        (400, error(code="tool_use_failed", failed_generation="<f"), K.MODEL_FAULT),
        (424, {"message": "x"}, K.MODEL_FAULT),
        (408, b"", K.TIMEOUT),
        (409, error(), K.REJECTED),
        (422, {"detail": [{"loc": ["body", "messages", 0, "x"], "msg": "extra", "type": "extra_forbidden"}]}, K.REJECTED),
        (434, error(), K.REFUSED_CREDENTIAL),
        (435, error(), K.REJECTED),
        (498, error(), K.OVERLOADED),
        (499, error(), K.SERVER_ERROR),
        (500, error(type="server_error"), K.SERVER_ERROR),
        (502, b"<html>Bad gateway</html>", K.SERVER_ERROR),
        (503, error(type="unavailable_error", message="Loading model"), K.OVERLOADED),
        (529, b"", K.OVERLOADED),
        (302, b"", K.BAD_ANSWER),
    ],
)  # fmt: skip
def test_kinds(status: int, body: Any, kind: FaultKind) -> None:
    assert read(status, body).kind is kind


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(429, "1113", K.OUT_OF_CREDIT), (429, "1302", K.RATE_LIMITED), (400, "1301", K.CONTENT_POLICY),
     (400, "1261", K.CONTEXT_OVERFLOW), (400, "1211", K.MODEL_MISSING), (400, "1113", K.REJECTED)],
)  # fmt: skip
def test_codes_of_a_profile_decide(status: int, code: str, kind: FaultKind) -> None:
    assert read(status, error(code=code), ZAI).kind is kind
    assert read(status, error(code=int(code)), ZAI).kind is kind


def test_an_empty_body_is_overflow_only_where_the_profile_says_so() -> None:
    silent = Profile(overflow_codes=frozenset({""}))
    assert read(400, b"", silent).kind is K.CONTEXT_OVERFLOW
    assert read(400, b"").kind is K.REJECTED


@pytest.mark.parametrize(
    ("body", "message", "param", "code", "kind"),
    [
        (error(type="t", code="c", param="p"), "m", "p", "c", "t"),
        (error(type="t", code=400, param=None), "m", None, None, "t"),
        ({"error": "text"}, "text", None, None, None),
        ([error(code=400, status="INVALID_ARGUMENT")], "m", None, None, "INVALID_ARGUMENT"),
        ({"object": "error", "message": "m", "type": "t", "code": "3280", "param": None}, "m", None, "3280", "t"),
        ({"message": "m"}, "m", None, None, None),
        ({"detail": "m"}, "m", None, None, None),
        ({"detail": [{"loc": ["body", "messages", 0, "x"], "msg": "extra", "type": "extra_forbidden"}]},
         "messages[0].x: extra", "messages[0].x", None, "extra_forbidden"),
        (error(message="Provider returned error", metadata={"raw": '{"error":{"message":"why"}}'}),
         "Provider returned error: why", None, None, None),
        (b"plain words", "plain words", None, None, None),
        (b"<html>", "an HTML page in place of JSON", None, None, None),
        (b"", "", None, None, None),
        (b"5", "", None, None, None),
    ],
)  # fmt: skip
def test_words_are_found_in_every_shape(
    body: Any, message: str, param: str | None, code: str | None, kind: str | None
) -> None:
    got = read(400, body)
    assert (got.message, got.param, got.code, got.type, got.status) == (
        message,
        param,
        code,
        kind,
        400,
    )


def test_waits_come_from_headers_or_body() -> None:
    assert read(429, error(), retry_after="7").retry_after == 7.0
    assert read(429, error()).retry_after is None
    details = [{"@type": "x"}, {"retryDelay": "30s"}]
    assert read(429, [error(details=details)]).retry_after == 30.0
    assert read(429, [error(details=details)], retry_after="1").retry_after == 1.0


ODD = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["error", "message", "type", "code", "detail", "loc", "msg", "metadata", "raw", "details", "retryDelay"]),
        inner,
        max_size=4,
    ),
    max_leaves=10,
)  # fmt: skip


@given(st.integers(200, 599), st.binary(max_size=30) | ODD.map(lambda v: json.dumps(v).encode()))
def test_any_answer_is_some_fault(status: int, body: bytes) -> None:
    assert isinstance(fault(status, {}, body, 0, Profile()), Fault)
