"""A run performs what the machine decides, and ends whatever happens to it."""

import pytest

from tests.relay.running import Scene
from zurelay.relay import machine
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply
from zurelay.testing.script import sse_event
from zurelay.upstream.base import ErrorKind, UpstreamError

WHOLE = ["started", "opened", "ok", "closed", "left"]


async def test_a_stream_goes_from_the_upstream_to_the_caller() -> None:
    scene = Scene(stream=True)
    [call] = scene.calls
    assert b'"model":"upstream-1"' in call.call.body
    call.say(chat_chunks("Hi")[0])
    assert scene.caller.status == 0
    call.receiver.data(sse_event(chat_chunk({"content": "Hi"})))
    assert scene.caller.status == 200
    call.stream()
    assert scene.caller.body.endswith(b"data: [DONE]\n\n")
    assert (scene.caller.ending, scene.row.status) == ("closed", "ok")
    assert scene.watcher.heard == WHOLE
    assert scene.done == [scene.run]


async def test_a_plain_answer_is_given_whole() -> None:
    scene = Scene(stream=False)
    scene.calls[0].reply()
    assert (scene.caller.status, scene.caller.ending) == (200, "answered")
    assert b'"Hi"' in scene.caller.body
    assert scene.watcher.heard == ["started", "ok", "left"]


async def test_a_caller_that_does_not_keep_up_pauses_the_upstream() -> None:
    scene = Scene(stream=True)
    scene.caller.read(10)
    [call] = scene.calls
    call.say(*chat_chunks("Hi")[:2])
    assert call.paused
    scene.caller.read(1000)
    assert not call.paused


async def test_leaving_cuts_the_upstream_and_ends_the_run() -> None:
    scene = Scene(stream=True)
    scene.caller.leave()
    assert scene.calls[0].cancelled
    assert (scene.row.status, scene.row.http_status, scene.row.cost) == ("client_closed", 499, 0)
    assert scene.done == [scene.run]
    scene.calls[0].stream()  # too late: nothing hears it
    assert scene.caller.status == 0


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_that_cannot_be_read_moves_on(
    stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(stream=stream)

    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    first = scene.run._attempts[0]
    if stream:
        monkeypatch.setattr(type(first.stream), "feed", broken)
        first_call = scene.calls[0]
        first_call.say(chat_chunk({"content": "Hi"}))
    else:
        monkeypatch.setattr(type(first._exchange), "whole", broken)
        first_call = scene.calls[0]
        first_call.reply()
    monkeypatch.undo()
    assert first_call.cancelled
    assert len(scene.calls) == 2
    if stream:
        scene.calls[1].stream()
    else:
        scene.calls[1].reply()
    assert (scene.caller.status, scene.row.status) == (200, "ok")
    assert [a.reason for a in scene.row.attempts] == ["bad_answer", None]


@pytest.mark.parametrize("spoken", [True, False])
async def test_a_fault_of_ours_ends_the_request_once_and_frees_everything(
    spoken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(stream=True)
    if spoken:
        scene.calls[0].say(chat_chunk({"content": "Hi"}))

    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(machine.Machine, "handle", broken)
    scene.calls[0].receiver.failed(UpstreamError(ErrorKind.CLOSED, "x", before_answer=False))
    assert scene.row.error == "internal_error"
    assert scene.row.cost == 0
    assert (scene.caller.status, scene.caller.ending) == (
        (200, "closed") if spoken else (500, "answered")
    )
    assert b"internal_error" in scene.caller.body
    assert scene.done == [scene.run]
    assert scene.watcher.heard[-1] == "left"


async def test_a_fault_in_the_last_bytes_cuts_the_caller_off_and_still_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(stream=True)
    stream = scene.run._attempts[0].stream

    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(type(stream), "finale", broken)
    scene.calls[0].stream()
    assert scene.caller.ending == "cut"
    assert scene.row.status == "ok"
    assert scene.done == [scene.run]
    assert scene.watcher.heard == WHOLE


async def test_bytes_without_a_token_are_bounded_and_told_as_a_bad_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "HELD_MAX", 500)
    scene = Scene(stream=True, routes=1)
    scene.calls[0].say(*[chat_chunk({"role": "assistant", "content": ""})] * 10)
    assert scene.calls[0].cancelled
    assert scene.caller.status == 502
    assert b"bad_answer" in scene.caller.body
    assert [a.reason for a in scene.row.attempts] == ["bad_answer"]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_shutdown_is_told_as_such(stream: bool) -> None:
    scene = Scene(stream=stream)
    scene.run.shut_down()
    assert scene.caller.status == 503
    assert b"shutting down" in scene.caller.body
    assert (b"retry-after", b"1") in scene.caller.headers
    assert scene.calls[0].cancelled


@pytest.mark.parametrize("exposed", [True, False])
async def test_the_error_answer_names_providers_only_where_they_may_be_seen(
    exposed: bool,
) -> None:
    scene = Scene(stream=False, routes=1, exposed=exposed)
    scene.calls[0].reply({"error": {"message": "upstream-1 broke, SECRET"}}, 500)
    body = scene.caller.body
    assert b"SECRET" not in body
    assert b"upstream-1" not in body
    assert (b"at p1" in body, b"m broke" in body) == (exposed, exposed)
    assert scene.row.attempts[0].detail == "m broke, [redacted]"


async def test_a_plain_answer_upstream_has_a_bound_and_a_stream_has_none() -> None:
    assert Scene(stream=False).calls[0].call.limit == 64 * 1024 * 1024
    assert Scene(stream=True).calls[0].call.limit is None


async def test_a_plain_answer_to_a_stream_is_a_bad_answer() -> None:
    scene = Scene(stream=True)
    scene.calls[0].reply(chat_reply("Hi"))
    scene.calls[1].stream()
    assert [a.reason for a in scene.row.attempts] == ["bad_answer", None]
