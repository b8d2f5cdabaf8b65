"""Messages of keys that opt in are stored, of all formats and ends; of other keys nothing is."""

import asyncio
import gzip
import json
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Ask, Caller, Start, until
from tests.app.gateways import configuration
from tests.office.people import OWNER
from tests.served import serve
from zurelay.live.contents import Contents
from zurelay.office.contents import ContentView, read
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.store.content import SealedContent, contents_of
from zurelay.store.engine import open_store
from zurelay.store.personal import Subject
from zurelay.store.sealing import Sealer
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply
from zurelay.testing.script import Close, Pause, chunk, json_reply, sse_event, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient

KEY = "content-key-of-thirty-two-letters"
LOG = f'[log]\ncontent_key = "{KEY}"\n'
SEALER = Sealer([KEY])
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "the moon"}]},
    "/v1/messages": {"max_tokens": 50, "messages": [{"role": "user", "content": "the moon"}]},
    "/v1/responses": {"input": "the moon"},
}


def desk_of(caller: Caller) -> Desk:
    return Desk(caller.gateway.store, sealer=lambda: SEALER)


def opt_in(caller: Caller, days: int | None = 7) -> None:
    """From now on the caller shows a key that has its messages stored."""
    made = create_key(desk_of(caller), OWNER, NewKey("keeper", store_days=days))
    caller.gateway.key = made.key


def rows(caller: Caller) -> list[SealedContent]:
    with caller.gateway.store.read() as connection:
        return contents_of(connection, Subject(None, None), None, 100)


async def stored(caller: Caller, count: int = 1) -> list[ContentView]:
    """What is stored, once there is so much and all of it is in the log."""
    while len(found := rows(caller)) < count:
        await asyncio.sleep(0.02)
    assert len(found) == count
    views = []
    for row in found:
        while (await caller.get(f"/v1/requests/{row.request}")).json["status"] == "running":
            await asyncio.sleep(0.02)
        while True:
            try:
                views.append(read(desk_of(caller), OWNER, row.request))
                break
            except Exception:  # noqa: BLE001 - not in the log yet
                await asyncio.sleep(0.02)
    return views


def said(view: ContentView) -> list[tuple[str, str]]:
    return [(one.role, piece.text) for one in view.messages for piece in one.pieces]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", BODIES)
async def test_every_format_is_stored_as_the_caller_got_it(
    start: Start, upstream: ScriptedUpstream, path: str, stream: bool
) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    upstream.enqueue(
        sse_reply(chat_chunks("is cheese")) if stream else json_reply(chat_reply("is cheese"))
    )
    body = {"model": "test-model", "stream": stream, **BODIES[path]}
    answer = await caller.send("POST", path, json.dumps(body).encode())
    assert answer.status == 200
    (view,) = await stored(caller)
    assert said(view) == [("user", "the moon"), ("assistant", "is cheese")]
    assert view.request == answer.headers["x-request-id"]
    assert json.loads(view.body or "") == body
    assert (view.answer or "").encode() == answer.body
    assert (view.stream, view.ended) == (stream, True)
    assert b"moon" not in rows(caller)[0].sealed


async def test_of_other_keys_nothing_is_even_looked_at(
    start: Start, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was looked at")

    monkeypatch.setattr(Contents, "begin", never)
    monkeypatch.setattr(Contents, "take", never)
    monkeypatch.setattr(Contents, "put", never)
    caller = await start(configuration(upstream) + LOG)
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert (await caller.chat()).status == 200
    assert (await caller.chat(messages="nonsense")).status == 400
    assert rows(caller) == []
    assert (await caller.get("/v1/key")).json["store_days"] is None


async def test_a_key_is_told_that_its_messages_are_stored(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller, 30)
    assert (await caller.get("/v1/key")).json["store_days"] == 30


async def test_refusals_and_failures_are_stored_with_what_was_asked(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    broken = await caller.send("POST", "/v1/chat/completions", b'{"model": "test-mo')
    strange = await caller.chat(model="no-such-model")
    upstream.enqueue(json_reply({"error": {"message": "out of order"}}, 400))
    failed = await caller.chat()
    views = {view.request: view for view in await stored(caller, 3)}
    by_answer = [views[one.headers["x-request-id"]] for one in (broken, strange, failed)]
    assert by_answer[0].body == '{"model": "test-mo'
    assert [role for role, _ in said(by_answer[0])] == ["error"]
    assert said(by_answer[1])[0] == ("user", "Hi")
    assert "no-such-model" in said(by_answer[1])[1][1]
    assert [role for role, _ in said(by_answer[2])] == ["user", "error"]
    for view, answer in zip(by_answer, (broken, strange, failed), strict=True):
        assert view.answer == answer.body.decode()


async def test_a_stream_that_breaks_off_is_stored_with_its_error(
    start: Start, upstream: ScriptedUpstream, store_url: str
) -> None:
    storage = f'[storage]\nurl = "{store_url}"\n' if store_url else ""
    caller = await start(configuration(upstream) + LOG + storage)
    opt_in(caller)
    upstream.enqueue(
        [*sse_reply([])[:-1], chunk(sse_event(chat_chunk({"content": "is"}))), Close()]
    )
    answer = await caller.chat(stream=True)
    (view,) = await stored(caller)
    assert [role for role, _ in said(view)] == ["user", "assistant", "error"]
    assert said(view)[1] == ("assistant", "is")
    assert (view.answer or "").encode() == answer.body


async def test_what_a_caller_that_left_was_given_is_stored(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    on = asyncio.Event()
    upstream.enqueue(
        [*sse_reply([])[:-1], chunk(sse_event(chat_chunk({"content": "is"}))), Pause(on)]
    )
    reader = await ask(caller)
    await reader.write()
    await reader.leave()
    await until(lambda: not caller.gateway.process._gateway.core.runs)
    (view,) = await stored(caller)
    assert said(view) == [("user", "Hi"), ("assistant", "is")]
    assert not view.ended
    on.set()


async def test_of_a_caller_that_left_before_all_was_read_the_request_is_stored(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    heavy = [{"role": "user", "content": "moon"}] * 60_000
    reader = await ask(caller, messages=heavy)
    await until(lambda: caller.gateway.process._parts.parts.reader._pool is not None)
    await reader.leave()
    (view,) = await stored(caller)
    assert (view.answer, view.ended) == ("", False)
    assert len(json.loads(view.body or "")["messages"]) == 60_000
    assert upstream.requests == []


async def test_a_repeat_is_stored_once(start: Start, upstream: ScriptedUpstream) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    upstream.enqueue(sse_reply(chat_chunks("is cheese")))
    first = await caller.chat(stream=True, headers={"idempotency-key": "once"})
    second = await caller.chat(stream=True, headers={"idempotency-key": "once"})
    assert first.text == second.text == "is cheese"
    upstream.enqueue(json_reply(chat_reply("last")))
    await caller.chat()
    views = await stored(caller, 2)
    assert [said(view)[-1][1] for view in views] == ["is cheese", "last"]
    assert caller.gateway.process._parts.contents.held == 0


async def test_pictures_are_not_stored_and_encodings_are_taken_off(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    upstream.enqueue(json_reply(chat_reply("a cat")))
    url = "data:image/png;base64," + "iVBORw0KGgo" + "A" * 40_000
    content = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": url}}]
    body = {"model": "test-model", "messages": [{"role": "user", "content": content}]}
    packed = gzip.compress(json.dumps(body).encode())
    headers = {**caller.gateway.headers, "content-encoding": "gzip"}
    answer = await caller.send("POST", "/v1/chat/completions", packed, headers)
    (view,) = await stored(caller)
    if answer.status == 200:
        assert said(view)[-1] == ("assistant", "a cat")
    assert said(view)[:2] == [("user", "what?"), ("user", "[image/png, 30008 bytes, not kept]")]
    assert len(view.body or "") < 300


async def test_the_key_can_be_changed_taken_away_and_given_back(
    start: Start, upstream: ScriptedUpstream
) -> None:
    config = configuration(upstream)
    caller = await start(config + LOG)
    opt_in(caller)

    async def ask_once() -> None:
        upstream.enqueue(json_reply(chat_reply("Hi")))
        assert (await caller.chat()).status == 200

    await ask_once()
    await stored(caller, 1)
    await caller.gateway.reload(config)
    await ask_once()
    new = "another-key-of-thirty-two-letters!"
    lines = f'[log]\ncontent_key = "{new}"\ncontent_previous_keys = ["{KEY}"]\n'
    await caller.gateway.reload(config + lines)
    await ask_once()
    while len(rows(caller)) < 2:
        await asyncio.sleep(0.02)
    both = Sealer([new, KEY])
    assert [row.opened(both).ended for row in rows(caller)] == [True, True]
    metrics = (await caller.get("/metrics")).body.decode()
    assert "zurelay_content_stored_total 2.0" in metrics
    assert "zurelay_content_dropped_total 1.0" in metrics
    assert "zurelay_content_held_bytes 0.0" in metrics


async def test_what_waits_is_written_when_the_gateway_stops(
    start: Start, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zurelay.live import contents

    monkeypatch.setattr(contents, "_DELAY_S", 60.0)
    caller = await start(configuration(upstream) + LOG)
    opt_in(caller)
    upstream.enqueue(json_reply(chat_reply("Hi")))
    await caller.chat()
    assert rows(caller) == []
    await caller.gateway.process._parts.contents.close()
    assert len(rows(caller)) == 1


async def test_a_killed_gateway_loses_at_most_what_waited(tmp_path: Path) -> None:
    with (
        serve(tmp_path, LOG) as served,
        closing(open_store(served.folder / "zurelay-data")) as store,
    ):
        made = create_key(Desk(store, sealer=lambda: SEALER), OWNER, NewKey("k", store_days=1))
        body = {"model": "sandbox/echo", "messages": [{"role": "user", "content": "the moon"}]}
        call = Call(
            method="POST",
            url=f"{served.base_url}/chat/completions",
            headers=(("authorization", f"Bearer {made.key}"),),
            body=json.dumps(body).encode(),
        )
        async with HttpClient() as client:
            answers = await asyncio.gather(*(client.fetch(call) for _ in range(60)))
        found: list[SealedContent] = []
        while not found:
            await asyncio.sleep(0)
            with store.read() as connection:
                found = contents_of(connection, Subject(None, None), None, 100)
        os.kill(served.pid, signal.SIGKILL)
        with store.read() as connection:
            found = contents_of(connection, Subject(None, None), None, 100)
    asked = {answer.headers["x-request-id"] for answer in answers}
    assert {row.request for row in found} <= asked
    assert all(b"moon" in row.opened(SEALER).body for row in found)
