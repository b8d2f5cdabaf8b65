"""When a stream opens, what fills its silence, and how it ends."""

import asyncio

import pytest

from tests.app.conftest import Ask, Start
from tests.app.gateways import Reader, configuration, error_of, text_of
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_usage
from zurelay.testing.script import (
    Close,
    Pause,
    Reset,
    Script,
    Stall,
    Step,
    chunk,
    json_reply,
    sse_event,
    sse_reply,
)
from zurelay.testing.upstream import ScriptedUpstream

KEEP_ALIVE = b": keep-alive\n\n"
EARLY = "early_open_s = 0.1\nkeep_alive_s = 0.1"
NO_TOKENS = [b": ping\n\n", chat_chunk({"role": "assistant", "content": ""}), chat_chunk({})]


def events(*parts: object, end: Step | None = None) -> Script:
    """A stream's head, then events, bytes and steps."""
    steps: list[Step] = list(sse_reply([])[:-1])
    for part in parts:
        if isinstance(part, (bytes, str, dict)):
            steps.append(chunk(part if isinstance(part, bytes) else sse_event(part)))
        else:
            steps.append(part)  # type: ignore[arg-type]
    return [*steps, end or Close()]


def whole(text: str) -> Script:
    return sse_reply(chat_chunks(text, usage=chat_usage()))


async def silent(reader: Reader) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.byte(), 0.1)


async def test_nothing_is_sent_before_the_first_token(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    go = asyncio.Event()
    upstream.enqueue(events(*NO_TOKENS, Pause(go), *chat_chunks("Hi")[1:]))
    reader = await ask(caller)
    await upstream.wait_requests()
    await silent(reader)
    go.set()
    first = await reader.write()
    assert (reader.status, text_of(first)) == (200, "Hi")
    assert b'"role":"assistant"' in first.replace(b" ", b"")
    assert (await reader.writes())[-1].endswith(b"data: [DONE]\n\n")


async def test_a_failure_after_the_role_chunk_is_not_seen(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second))
    upstream.enqueue(events(*NO_TOKENS))
    second.enqueue(whole("Hi"))
    answer = await caller.chat(stream=True)
    assert (answer.status, answer.text) == (200, "Hi")
    assert answer.body.count(b'"assistant"') == 1


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_a_finish_without_text_releases_what_was_held(
    start: Start, ask: Ask, upstream: ScriptedUpstream, reason: str
) -> None:
    caller = await start(configuration(upstream))
    go = asyncio.Event()
    upstream.enqueue(events(*NO_TOKENS, chat_chunk({}, finish_reason=reason), Pause(go), "[DONE]"))
    reader = await ask(caller)
    first = await reader.write()
    assert reason.encode() in first
    go.set()
    assert await reader.writes() == [b"data: [DONE]\n\n"]


async def test_a_silent_stream_opens_early_with_head_and_comment_together(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, streaming=EARLY))
    go = asyncio.Event()
    upstream.enqueue(events(Pause(go), *chat_chunks("Hi"), end=Stall()))
    reader = await ask(caller)
    assert await reader.write() == KEEP_ALIVE
    assert reader.status == 200
    assert reader.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reader.headers["x-zurelay-model"] == "test-model"
    assert await reader.write() == KEEP_ALIVE
    go.set()
    said = b"".join(await reader.writes()).replace(KEEP_ALIVE, b"")
    assert text_of(said) == "Hi"
    assert b"\n:" not in said  # the head said all: no comment at the end


async def test_routes_are_still_switched_behind_an_open_stream(
    start: Start, ask: Ask, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, streaming=EARLY))
    fail = asyncio.Event()
    upstream.enqueue([Pause(fail), *json_reply({"error": {"message": "x"}}, 500)])
    second.enqueue(whole("Hi"))
    reader = await ask(caller)
    assert await reader.write() == KEEP_ALIVE
    fail.set()
    assert text_of(b"".join(await reader.writes())) == "Hi"
    row = (await caller.get(f"/v1/requests/{reader.headers['x-request-id']}")).json
    assert [attempt["status"] for attempt in row["attempts"]] == ["failed", "ok"]


async def test_after_an_early_head_a_failure_is_an_error_event_like_the_error_answer(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, streaming=EARLY))
    fail = asyncio.Event()
    broken = json_reply({"error": {"message": "x"}}, 500)
    upstream.enqueue([Pause(fail), *broken], broken)
    reader = await ask(caller)
    assert await reader.write() == KEEP_ALIVE
    fail.set()
    error = error_of(b"".join(await reader.writes()))
    plain = (await caller.chat(stream=True)).json["error"]
    assert error == plain
    assert error["code"] == "upstream_failed"


async def test_silence_is_filled_between_events_and_never_inside_one(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, streaming="keep_alive_s = 0.1"))
    go = asyncio.Event()
    half, rest = sse_event(chat_chunk({"content": " there"})), b""
    half, rest = half[:30], half[30:]
    upstream.enqueue(events(chat_chunk({"content": "Hi"}), half, Pause(go), rest, *END))
    reader = await ask(caller)
    assert text_of(await reader.write()) == "Hi"
    assert await reader.write() == KEEP_ALIVE
    assert await reader.write() == KEEP_ALIVE
    go.set()
    assert text_of(b"".join(await reader.writes())) == " there"


END = chat_chunks("")[1:]


@pytest.mark.parametrize("lang", ["go", "python"])
async def test_comments_to_gos_sdk_end_with_one_newline(
    start: Start, ask: Ask, upstream: ScriptedUpstream, second: ScriptedUpstream, lang: str
) -> None:
    caller = await start(configuration(upstream, second, streaming=EARLY))
    go = asyncio.Event()
    second.enqueue(events(Pause(go), *chat_chunks("Hi"), end=Stall()))
    reader = await ask(
        caller, f"x-stainless-lang: {lang}", model="other-model", models=["test-model"]
    )
    newlines = b"\n" if lang == "go" else b"\n\n"
    assert await reader.write() == b": keep-alive" + newlines
    go.set()
    last = (await reader.writes())[-1]
    comment, end = last.split(b"data:")
    assert comment == b": x-zurelay-model=other-model" + newlines
    assert end == b" [DONE]\n\n"


async def test_an_early_head_names_no_model_while_two_can_answer_and_a_comment_does(
    start: Start, ask: Ask, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, streaming=EARLY))
    go = asyncio.Event()
    upstream.enqueue([Pause(go), *json_reply({"error": {"message": "x"}}, 500)])
    second.enqueue(json_reply({"error": {"message": "x"}}, 500), whole("Hi"))
    reader = await ask(caller, models=["other-model"])
    await reader.write()
    assert not [name for name in reader.headers if name.startswith("x-zurelay")]
    go.set()
    last = (await reader.writes())[-1]
    comment = b": x-zurelay-model=other-model x-zurelay-routed-from=test-model\n\n"
    assert last.endswith(comment + b"data: [DONE]\n\n")


async def test_the_comment_comes_before_the_error_event_too(
    start: Start, ask: Ask, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, streaming=EARLY))
    go = asyncio.Event()
    upstream.enqueue(events(Pause(go), chat_chunk({"content": "Hi"})))
    reader = await ask(caller, models=["other-model"])
    await reader.write()
    go.set()
    stream = b"".join(await reader.writes())
    assert b': x-zurelay-model=test-model\n\ndata: {"error"' in stream
    assert error_of(stream)["type"] == "upstream_error"


async def test_what_was_left_out_is_told_late_on_an_early_stream(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, streaming=EARLY))
    go = asyncio.Event()
    upstream.enqueue(events(Pause(go), *chat_chunks("Hi"), end=Stall()))
    reader = await ask(caller, reasoning_effort="high", store=True)
    await reader.write()
    assert "x-zurelay-dropped-params" not in reader.headers
    go.set()
    assert b": x-zurelay-dropped-params=" in (await reader.writes())[-1]


# Deadlines.


async def test_pings_and_role_chunks_do_not_satisfy_the_start_deadline_of_a_route(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second, routing="start_deadline_s = 2"))
    upstream.enqueue(events(*NO_TOKENS, *[Pause(0.1), b": ping\n\n"] * 30, end=Stall()))
    second.enqueue([Pause(0.2), *whole("Hi")])  # in time, since its deadline is its own
    answer = await caller.chat(stream=True)
    assert answer.text == "Hi"
    row = await caller.logged(answer)
    assert [a["reason"] for a in row["attempts"]] == ["timeout", None]
    await upstream.wait_closed()


@pytest.mark.parametrize("stream", [True, False])
async def test_all_silent_is_a_504(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, stream: bool
) -> None:
    caller = await start(configuration(upstream, second, routing="start_deadline_s = 0.1"))
    upstream.enqueue([Stall()])
    second.enqueue([Stall()])
    answer = await caller.chat(stream=stream)
    assert (answer.status, answer.json["error"]["code"]) == (504, "upstream_timeout")
    assert answer.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("stream", [True, False])
async def test_the_requests_own_deadline_is_a_504_and_blames_no_route(
    start: Start, upstream: ScriptedUpstream, stream: bool
) -> None:
    caller = await start(configuration(upstream, routing="request_deadline_s = 0.1"))
    upstream.enqueue([Stall()])
    answer = await caller.chat(stream=stream)
    assert (answer.status, answer.json["error"]["code"]) == (504, "upstream_timeout")
    row = await caller.logged(answer)
    assert [a["reason"] for a in row["attempts"]] == ["timeout"]


async def test_silence_after_tokens_ends_with_an_error_event_and_is_billed(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, routing="idle_deadline_s = 2"))
    said = chat_chunk({"content": "x"})
    pings = [Pause(0.75), said] * 3  # longer than the deadline, but never silent so long
    upstream.enqueue(events(said, *pings, end=Stall()))
    answer = await caller.chat(stream=True)
    assert answer.text == "xxxx"
    assert error_of(answer.body)["code"] == "upstream_timeout"
    row = await caller.logged(answer)
    assert (row["status"], row["cost_estimated"]) == ("error", True)
    assert row["cost_usd"] != "0"
    await upstream.wait_closed()


async def test_a_stream_that_lives_too_long_ends_with_an_error_event(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, server="stream_max_s = 1"))
    upstream.enqueue(events(*[chat_chunk({"content": "x"}), Pause(0.1)] * 30))
    answer = await caller.chat(stream=True)
    assert error_of(answer.body)["code"] == "upstream_timeout"
    assert 1 <= len(answer.text) < 30


# Endings.


@pytest.mark.parametrize("end", [Close(), Reset()])
async def test_a_break_in_mid_answer_is_an_error_event_and_no_end_mark(
    start: Start, ask: Ask, upstream: ScriptedUpstream, end: Step
) -> None:
    caller = await start(configuration(upstream))
    read = asyncio.Event()
    said = [chat_chunk({"content": f"{n} "}) for n in range(40)]
    upstream.enqueue(events(*said, Pause(read), end=end))
    reader = await ask(caller)
    got = b""
    while text_of(got) != "".join(f"{n} " for n in range(40)):
        got += await reader.write()
    read.set()
    rest = b"".join(await reader.writes())
    assert error_of(rest)["code"] == "upstream_failed"
    assert b"[DONE]" not in rest
    assert b'finish_reason":"' not in rest
    row = (await caller.get(f"/v1/requests/{reader.headers['x-request-id']}")).json
    assert (row["status"], row["http_status"], row["error"]) == ("error", 200, "upstream_failed")
    assert row["usage"]["completion_tokens"] > 20


@pytest.mark.parametrize("end", [Close(), Reset()])
async def test_an_answer_with_its_finish_reason_is_whole_without_the_end_mark(
    start: Start, upstream: ScriptedUpstream, end: Step
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(events(*chat_chunks("Hi")[:-1], end=end))
    answer = await caller.chat(stream=True)
    assert answer.text == "Hi"
    assert answer.events[-1] == "data: [DONE]"
    assert (await caller.logged(answer))["status"] == "ok"


async def test_an_error_inside_a_200_before_any_token_moves_on(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second))
    error = {"error": {"message": "overloaded", "type": "server_error", "code": 503}}
    upstream.enqueue(events(error), events(error))
    second.enqueue(whole("Hi"))
    answer = await caller.chat(stream=True)
    assert (answer.status, answer.text) == (200, "Hi")
