import json
from typing import Any

import pytest

from zurelay.chat.problems import too_large
from zurelay.sandbox.base import Answer, Identity
from zurelay.sandbox.behaviour import MODELS
from zurelay.sandbox.service import answer, refuse

WHO = Identity("abc", 1_795_000_000)
PATH = "/v1/chat/completions"


def ask(model: str, **fields: Any) -> Answer:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields}
    return answer("POST", PATH, json.dumps(body).encode(), WHO)


def error(told: Answer) -> dict[str, Any]:
    (step,) = told.steps
    return json.loads(step.data)["error"]  # type: ignore[no-any-return]


def header(told: Answer, name: str) -> str | None:
    return dict(told.headers).get(name)


def test_the_models_list_has_every_model() -> None:
    told = answer("GET", "/v1/models", b"", WHO)
    (step,) = told.steps
    listed = json.loads(step.data)
    assert [entry["id"] for entry in listed["data"]] == list(MODELS)
    assert {entry["object"] for entry in listed["data"]} == {"model"}


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/chat/completions/", "/x/chat/completions"]
)
def test_any_base_path_will_do(path: str) -> None:
    body = json.dumps({"model": "echo", "messages": [{"role": "user", "content": "hi"}]})
    assert answer("POST", path, body.encode(), WHO).status == 200


@pytest.mark.parametrize(
    ("method", "path", "allow"), [("GET", PATH, "POST"), ("POST", "/v1/models", "GET")]
)
def test_a_wrong_method_is_405_with_allow(method: str, path: str, allow: str) -> None:
    told = answer(method, path, b"", WHO)
    assert (told.status, header(told, "allow")) == (405, allow)


def test_an_unknown_path_is_404() -> None:
    told = answer("POST", "/v1/images", b"{}", WHO)
    assert (told.status, error(told)["code"]) == (404, "not_found")


def test_a_bad_model_id_is_refused_at_its_field() -> None:
    told = ask("sandbox/lorem?speed=3")
    assert (told.status, error(told)["param"]) == (400, "model")
    assert "speed" in error(told)["message"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 404, 429, 500, 503, 599])
def test_an_error_model_answers_with_its_status(status: int, stream: bool) -> None:
    told = ask(f"sandbox/error?status={status}", stream=stream)
    assert told.status == status
    assert str(status) in error(told)["message"]
    assert header(told, "content-type") == "application/json"


def test_an_error_can_come_late() -> None:
    told = ask("sandbox/error?status=500&first=2")
    assert (told.head_at, told.ends_at) == (2, 2)


def test_an_error_after_tokens_is_a_plain_error_where_nothing_streams() -> None:
    assert ask("sandbox/error?after=3").status == 503
    assert ask("sandbox/error?after=3", stream=True).status == 200


def test_a_rate_limit_has_retry_after() -> None:
    told = ask("sandbox/rate-limit?retry_after=7", stream=True)
    assert (told.status, header(told, "retry-after")) == (429, "7")
    assert error(told)["code"] == "rate_limit_exceeded"


def test_a_stream_opens_at_once_and_a_plain_answer_when_it_is_whole() -> None:
    assert ask("sandbox/slow?first=30", stream=True).head_at == 0
    plain = ask("sandbox/slow?first=30")
    assert (plain.head_at, plain.ends_at) == (30, 30)


def test_a_cut_plain_answer_promises_more_than_it_sends() -> None:
    told = ask("sandbox/cut?after=3")
    (step,) = told.steps
    assert told.cut
    assert len(step.data) < int(header(told, "content-length") or 0)


def test_a_stalled_plain_answer_never_begins() -> None:
    told = ask("sandbox/stall?after=3")
    assert (told.head_at, list(told.steps), told.cut, told.ends_at) == (None, [], True, 300)


def test_every_answer_has_a_request_id() -> None:
    assert header(ask("sandbox/echo"), "x-request-id") == "req_abc"
    assert header(ask("sandbox/error"), "x-request-id") == "req_abc"


def test_a_call_can_be_refused_before_it_is_read() -> None:
    told = refuse(too_large("too much"), WHO)
    assert (told.status, error(told)["message"]) == (413, "too much")
