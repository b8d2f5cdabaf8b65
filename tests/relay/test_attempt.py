"""What an attempt makes of an upstream's bytes and failures."""

import pytest

from tests.relay.running import JSON, STREAM, Scene
from zurelay.relay.attempt import MAX_ERROR_BODY
from zurelay.testing.chat import chat_chunk
from zurelay.testing.script import sse_event
from zurelay.upstream.base import ErrorKind, UpstreamError

CONNECT = {ErrorKind.DNS, ErrorKind.CONNECT, ErrorKind.TLS, ErrorKind.CONNECT_TIMEOUT}


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("kind", list(ErrorKind))
async def test_failures_of_the_connection_have_their_reasons(kind: ErrorKind, before: bool) -> None:
    scene = Scene(stream=True)
    scene.calls[0].receiver.failed(UpstreamError(kind, "x", before_answer=before))
    reason = scene.job.record.attempts[0].reason
    if kind in CONNECT or (kind is ErrorKind.CLOSED and before):
        assert reason == "connect"
    elif kind is ErrorKind.CLOSED:
        assert reason == "broke_off"
    else:
        assert reason == "bad_answer"


async def test_an_endless_error_is_read_only_so_far() -> None:
    scene = Scene(stream=True, routes=1)
    call = scene.calls[0]
    call.receiver.head(500, JSON)
    for _ in range(MAX_ERROR_BODY // 1000 + 2):
        call.receiver.data(b"x" * 1000)
    assert call.cancelled
    assert scene.caller.status == 502


async def test_nothing_is_heard_after_the_cut() -> None:
    scene = Scene(stream=True)
    attempt = scene.run._attempts[0]
    attempt.cut()
    scene.calls[0].stream()
    scene.calls[0].receiver.failed(UpstreamError(ErrorKind.CLOSED, "x", before_answer=True))
    assert scene.caller.status == 0
    assert scene.calls[0].cancelled
    attempt.cut()


async def test_the_first_token_is_timed_once() -> None:
    scene = Scene(stream=True)
    call = scene.calls[0]
    call.receiver.head(200, STREAM)
    call.receiver.data(sse_event(chat_chunk({"role": "assistant", "content": ""})))
    attempt = scene.run._attempts[0]
    assert attempt.token_at == 0.0
    call.receiver.data(sse_event(chat_chunk({"content": "Hi"})))
    at = attempt.token_at
    call.receiver.data(sse_event(chat_chunk({"content": " there"})))
    assert attempt.token_at == at > 0.0
    assert attempt.record.first_token_ms is not None
