"""Reading with await."""

import asyncio

import pytest

from tests.upstream.recorder import get, post
from zurelay.testing import (
    Close,
    Pause,
    ScriptedUpstream,
    Send,
    Stall,
    chat_chunks,
    head,
    reply,
    sse_event,
    sse_reply,
)
from zurelay.upstream.base import UpstreamError
from zurelay.upstream.client import HttpClient


async def test_an_error_status_is_an_answer_too(client: HttpClient) -> None:
    async with ScriptedUpstream(reply(b"no", 503, {"retry-after": "3"})) as upstream:
        response = await client.fetch(get(upstream.base_url))
    assert (response.status, response.body) == (503, b"no")
    assert response.headers["retry-after"] == "3"


async def test_a_failure_is_raised(client: HttpClient) -> None:
    async with ScriptedUpstream([Close()]) as upstream:
        with pytest.raises(UpstreamError) as caught:
            await client.fetch(get(upstream.base_url))
    assert caught.value.kind == "closed"


async def test_a_deadline_closes_the_connection(client: HttpClient) -> None:
    async with ScriptedUpstream([Stall()]) as upstream:
        call = asyncio.ensure_future(client.fetch(get(upstream.base_url)))
        await upstream.wait_requests()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await upstream.wait_closed()


async def test_a_fetch_is_bounded(client: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zurelay.upstream.reading._FETCH_LIMIT", 10)
    async with ScriptedUpstream(reply(b"x" * 11), reply(b"x" * 11)) as upstream:
        with pytest.raises(UpstreamError) as caught:
            await client.fetch(get(upstream.base_url))
        assert caught.value.kind == "too_large"
        assert len((await client.fetch(get(upstream.base_url, limit=11))).body) == 11


async def test_a_stream_is_read_as_it_comes(client: HttpClient) -> None:
    go = asyncio.Event()
    events = chat_chunks("a b c")
    script = [*sse_reply(events[:2])[:-1], Pause(go), *sse_reply(events[2:])[1:]]
    async with (
        ScriptedUpstream(script) as upstream,
        client.stream(post(upstream.base_url)) as stream,
    ):
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream"
        received = b""
        async for chunk in stream:
            received += chunk
            if received == b"".join(map(sse_event, events[:2])):
                go.set()
        assert received == b"".join(map(sse_event, events))
        assert upstream.open == 1  # kept


async def test_leaving_a_stream_closes_it(client: HttpClient) -> None:
    script = [head(200), Send(b"x"), Stall()]
    async with ScriptedUpstream(script) as upstream:
        async with client.stream(post(upstream.base_url)) as stream:
            async for _ in stream:
                break
        await upstream.wait_closed()


async def test_a_stream_that_never_begins_can_be_given_up(client: HttpClient) -> None:
    async with ScriptedUpstream([Stall()]) as upstream:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02), client.stream(post(upstream.base_url)):
                pass
        await upstream.wait_closed(upstream.connections)


async def test_a_stream_without_an_answer_raises_at_its_start(client: HttpClient) -> None:
    async with ScriptedUpstream([Close()]) as upstream:
        with pytest.raises(UpstreamError):
            async with client.stream(post(upstream.base_url)):
                pass


async def test_a_stream_that_breaks_off_raises_after_what_came(client: HttpClient) -> None:
    script = [head(200, {"content-length": "9"}), Send(b"x"), Close()]
    received = b""
    async with (
        ScriptedUpstream(script) as upstream,
        client.stream(post(upstream.base_url)) as stream,
    ):
        with pytest.raises(UpstreamError):
            async for chunk in stream:
                received += chunk
    assert received == b"x"


async def test_an_unread_stream_stops_the_server(client: HttpClient) -> None:
    size = 64 * 1024 * 1024
    async with (
        ScriptedUpstream(reply(bytes(size))) as upstream,
        client.stream(get(upstream.base_url)) as stream,
    ):
        sent, quiet = -1, 0
        while quiet < 5:
            quiet = quiet + 1 if sent == upstream.sent else 0
            sent = upstream.sent
            await asyncio.sleep(0.01)
        assert sent < size / 2
        assert sum([len(chunk) async for chunk in stream]) == size
