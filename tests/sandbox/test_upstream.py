import asyncio
from collections.abc import Mapping

import pytest

from tests.sandbox.playing import JumpingLoop, Remembering, chat_call, play, start
from zurelay.sandbox.upstream import BASE_URL, SandboxUpstream
from zurelay.upstream.base import Call, Client, ErrorKind, Handle, UpstreamError


def test_it_is_a_client_like_any_other() -> None:
    loop = JumpingLoop()
    client: Client = SandboxUpstream(loop=loop)
    heard = Remembering(loop)
    handle: Handle = client.send(chat_call("sandbox/echo"), heard)
    handle.pause()
    handle.resume()
    loop.run()
    assert heard.ended


def test_nothing_is_heard_before_send_returns() -> None:
    loop, heard, _ = start(chat_call("sandbox/echo"))
    assert heard.status is None
    loop.run()
    assert heard.ended


def test_an_answer_without_a_pace_comes_in_one_piece() -> None:
    heard = play("sandbox/echo", stream=True)
    assert len(heard.chunks) == 1
    assert heard.over_at == 0


def test_tokens_come_when_they_are_due() -> None:
    heard = play("sandbox/lorem?tokens=3&tps=2&first=1", stream=True)
    assert heard.head_at == 0
    assert [at for at, _ in heard.chunks] == [0, 1, 1.5, 2]
    assert heard.over_at == 2


def test_a_late_plain_answer_has_no_early_head() -> None:
    heard = play("sandbox/slow?first=30")
    assert (heard.head_at, heard.over_at) == (30, 30)


def test_a_cut_stream_fails_after_its_tokens() -> None:
    heard = play("sandbox/cut?after=2", stream=True)
    assert heard.body.count(b'"content":') == 3
    assert heard.error is not None
    assert (heard.error.kind, heard.error.before_answer) == (ErrorKind.CLOSED, False)
    assert not heard.ended


def test_a_cut_before_the_first_token_is_a_failure_before_any_answer() -> None:
    heard = play("sandbox/cut?after=0", stream=True)
    assert heard.status is None
    assert heard.error is not None
    assert heard.error.before_answer


def test_a_stall_is_silent_for_its_time_and_then_closes() -> None:
    loop, heard, _ = start(chat_call("sandbox/stall?after=2", stream=True))
    loop.run(299)
    assert heard.body.count(b'"content":') == 3
    assert heard.over_at is None
    loop.run(2)
    assert heard.error is not None
    assert heard.over_at == 300


def test_after_a_cancel_nothing_is_heard() -> None:
    loop, heard, playback = start(chat_call("sandbox/lorem?tokens=10&tps=1", stream=True))
    loop.run(3.5)
    count = len(heard.chunks)
    playback.cancel()
    loop.run()
    assert len(heard.chunks) == count == 4
    assert heard.over_at is None
    assert loop.idle


def test_a_cancel_before_the_start_or_after_the_end_is_harmless() -> None:
    loop, heard, playback = start(chat_call("sandbox/echo"))
    playback.cancel()
    loop.run()
    assert heard.status is None
    loop, heard, playback = start(chat_call("sandbox/echo"))
    loop.run()
    playback.cancel()
    assert heard.ended


def test_a_cancel_from_inside_a_callback_holds_at_once() -> None:
    loop, heard, playback = start(chat_call("sandbox/echo", stream=True))
    heard.on_data = playback.cancel
    loop.run()
    assert len(heard.chunks) == 1
    assert heard.over_at is None


def test_a_pause_holds_back_what_becomes_due() -> None:
    loop, heard, playback = start(chat_call("sandbox/lorem?tokens=10&tps=1", stream=True))
    loop.run(2.5)
    playback.pause()
    loop.run(5)
    assert [at for at, _ in heard.chunks] == [0, 1, 2]
    playback.resume()
    loop.run(0)
    assert [at for at, _ in heard.chunks] == [0, 1, 2, 7.5]
    loop.run()
    assert heard.over_at == 9
    assert heard.body == play("sandbox/lorem?tokens=10&tps=1", stream=True).body


def test_a_pause_holds_back_the_head_too() -> None:
    loop, heard, playback = start(chat_call("sandbox/echo"))
    playback.pause()
    loop.run()
    assert heard.status is None
    playback.resume()
    loop.run()
    assert heard.ended


def test_a_short_pause_changes_nothing() -> None:
    loop, heard, playback = start(chat_call("sandbox/lorem?tokens=3&tps=1", stream=True))
    loop.run(0.5)
    playback.pause()
    playback.resume()
    playback.resume()
    loop.run()
    assert [at for at, _ in heard.chunks] == [0, 1, 2]
    assert heard.ended


def test_a_receiver_can_pause_in_the_middle_of_a_long_answer() -> None:
    text = "word " * 20_000
    call = chat_call("sandbox/echo", stream=True, messages=[{"role": "user", "content": text}])
    loop, heard, playback = start(call)
    heard.on_data = playback.pause
    loop.run(1)
    assert len(heard.chunks) == 1
    assert heard.over_at is None

    def pause_and_resume() -> None:
        playback.pause()
        playback.resume()

    heard.on_data = pause_and_resume
    playback.resume()
    loop.run()
    assert len(heard.chunks) > 5
    assert heard.ended
    content = [event["choices"][0]["delta"].get("content", "") for event in heard.events[:-1]]
    assert "".join(content) == text


def test_an_answer_beyond_the_limit_of_the_call_fails() -> None:
    loop, heard, _ = start(chat_call("sandbox/echo", limit=100))
    loop.run()
    assert heard.error is not None
    assert heard.error.kind is ErrorKind.TOO_LARGE
    loop, heard, _ = start(chat_call("sandbox/echo", limit=10_000))
    loop.run()
    assert heard.ended


def test_answers_have_different_ids() -> None:
    loop = JumpingLoop()
    upstream = SandboxUpstream(loop=loop)
    heard = [Remembering(loop), Remembering(loop)]
    for receiver in heard:
        upstream.send(chat_call("sandbox/echo"), receiver)
    loop.run()
    assert heard[0].json["id"] != heard[1].json["id"]


def test_the_models_list_is_served_too() -> None:
    loop, heard, _ = start(Call("GET", f"{BASE_URL}/models", (), b""))
    loop.run()
    assert heard.json["object"] == "list"


@pytest.mark.parametrize(
    ("model", "stream", "status"),
    [("sandbox/nope", False, 404), ("sandbox/error?status=529", True, 529)],
)
def test_errors_are_whole_answers(model: str, stream: bool, status: int) -> None:
    heard = play(model, stream=stream)
    assert (heard.status, heard.ended) == (status, True)
    assert heard.json["error"]["message"]


class _Waiting:
    def __init__(self) -> None:
        self.done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._body = b""

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        assert status == 200

    def data(self, chunk: bytes) -> None:
        self._body += chunk

    def end(self) -> None:
        self.done.set_result(self._body)

    def failed(self, error: UpstreamError) -> None:
        self.done.set_exception(error)


async def test_it_plays_on_a_real_event_loop() -> None:
    receiver = _Waiting()
    call = chat_call("sandbox/lorem?tokens=5&tps=500", stream=True)
    SandboxUpstream().send(call, receiver)
    body = await asyncio.wait_for(receiver.done, 5)
    assert body.endswith(b"data: [DONE]\n\n")
