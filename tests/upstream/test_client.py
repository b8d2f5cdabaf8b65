"""Calls and the connections they go out on."""

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.upstream.recorder import Recorder, get, post
from zurelay.testing import (
    Close,
    Pause,
    Request,
    Script,
    ScriptedUpstream,
    Send,
    Stall,
    head,
    json_reply,
    reply,
    wire,
)
from zurelay.upstream.base import Call, ErrorKind, UpstreamError
from zurelay.upstream.client import HttpClient

SendCall = Callable[[Call], Recorder]


async def test_a_call_goes_out_as_one_request(client: HttpClient) -> None:
    async with ScriptedUpstream(json_reply({"a": 1})) as upstream:
        call = Call(
            "POST", upstream.base_url + "/v1?x=y", (("authorization", "Bearer k"),), b'{"b": 2}'
        )
        response = await client.fetch(call)
    (request,) = upstream.requests
    assert (request.method, request.path, request.json) == ("POST", "/v1?x=y", {"b": 2})
    assert request.headers["authorization"] == "Bearer k"
    assert request.headers["host"] == upstream.base_url.removeprefix("http://")
    assert request.headers["user-agent"].startswith("zurelay/")
    assert (response.status, json.loads(response.body)) == (200, {"a": 1})


async def test_the_receiver_hears_nothing_before_send_returns(client: HttpClient) -> None:
    async with ScriptedUpstream(answer=lambda _: reply(b"x")) as upstream:
        for _ in range(3):
            recorder = Recorder()
            client.send(get(upstream.base_url), recorder)
            assert recorder.heard == []
            await recorder.over()


async def test_a_pooled_connection_needs_no_task(client: HttpClient) -> None:
    async with ScriptedUpstream(answer=lambda _: reply(b"x")) as upstream:
        await client.fetch(get(upstream.base_url))
        tasks = asyncio.all_tasks()
        recorder = Recorder()
        client.send(get(upstream.base_url), recorder)
        assert asyncio.all_tasks() == tasks
        await recorder.over()
        assert upstream.connections == 1


async def test_a_receiver_may_call_again_from_end_on_the_same_connection(
    client: HttpClient,
) -> None:
    async with ScriptedUpstream(answer=lambda _: reply(b"x")) as upstream:
        second = Recorder()

        class Chain(Recorder):
            def end(self) -> None:
                client.send(get(upstream.base_url), second)

        client.send(get(upstream.base_url), Chain())
        await second.over()
        assert second.body == b"x"
        assert upstream.connections == 1


async def test_calls_at_the_same_time_have_their_own_connections(client: HttpClient) -> None:
    go = asyncio.Event()

    def answer(request: Request) -> Script:
        return [Pause(go), *reply(request.body)]

    async with ScriptedUpstream(answer=answer) as upstream:
        calls = [
            asyncio.ensure_future(client.fetch(post(upstream.base_url, b"%d" % n)))
            for n in range(20)
        ]
        await upstream.wait_requests(20)
        assert client.statistics().open == 20
        go.set()
        assert [r.body for r in await asyncio.gather(*calls)] == [b"%d" % n for n in range(20)]
        assert client.statistics().idle == 20


async def test_the_connection_used_last_is_used_first(client: HttpClient) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    async with ScriptedUpstream([Pause(first), *reply()], [Pause(second), *reply()]) as upstream:
        one = asyncio.ensure_future(client.fetch(get(upstream.base_url)))
        await upstream.wait_requests(1)
        two = asyncio.ensure_future(client.fetch(get(upstream.base_url)))
        await upstream.wait_requests(2)
        second.set()
        await two
        first.set()
        await one
        upstream.enqueue(reply(), reply())
        await client.fetch(get(upstream.base_url))
        await client.fetch(get(upstream.base_url))
        assert [r.connection for r in upstream.requests] == [1, 2, 1, 1]


async def test_a_server_that_closes_after_every_answer_loses_and_repeats_nothing(
    client: HttpClient,
) -> None:
    async with ScriptedUpstream(answer=lambda r: [*reply(r.body), Close()]) as upstream:
        for n in range(50):
            response = await client.fetch(post(upstream.base_url, b"%d" % n))
            assert response.body == b"%d" % n
        assert [r.body for r in upstream.requests] == [b"%d" % n for n in range(50)]


async def test_a_connection_closed_while_idle_leaves_the_pool_at_once(client: HttpClient) -> None:
    async with ScriptedUpstream(reply(), reply()) as upstream:
        await client.fetch(get(upstream.base_url))
        assert client.statistics().idle == 1
        upstream.drop_all()
        while client.statistics().open:
            await asyncio.sleep(0)
        assert client.statistics().idle == 0
        await client.fetch(get(upstream.base_url))
        assert client.statistics().replaced == 0


async def test_a_stale_connection_is_replaced_unseen(client: HttpClient, send: SendCall) -> None:
    async with ScriptedUpstream(reply(b"1"), [Close()], reply(b"2")) as upstream:
        await client.fetch(get(upstream.base_url))
        recorder = await send(post(upstream.base_url, b"once")).over()
        assert recorder.heard == ["head", "data", "end"]
        assert recorder.body == b"2"
        assert [r.connection for r in upstream.requests] == [1, 1, 2]
        assert client.statistics().replaced == 1


async def test_only_one_replacement_is_made(client: HttpClient, send: SendCall) -> None:
    async with ScriptedUpstream(reply(b"1"), [Close()], [Close()], reply(b"3")) as upstream:
        await client.fetch(get(upstream.base_url))
        recorder = await send(post(upstream.base_url)).over()
        assert recorder.kind == "closed"
        assert recorder.error is not None
        assert recorder.error.before_answer
        assert not recorder.error.reused
        assert len(upstream.requests) == 3


async def test_a_replacement_never_takes_another_pooled_connection(
    client: HttpClient, send: SendCall
) -> None:
    async with ScriptedUpstream(answer=lambda _: reply()) as upstream:
        await asyncio.gather(*(client.fetch(get(upstream.base_url)) for _ in range(2)))
        assert client.statistics().idle == 2
        upstream.enqueue([Close()])
        recorder = await send(post(upstream.base_url)).over()
        assert recorder.error is None
        assert upstream.requests[-1].connection == 3


async def test_a_first_byte_of_an_answer_forbids_replacing(
    client: HttpClient, send: SendCall
) -> None:
    async with ScriptedUpstream(reply(b"1"), [Send(b"H"), Close()], reply(b"2")) as upstream:
        await client.fetch(get(upstream.base_url))
        recorder = await send(post(upstream.base_url)).over()
        assert recorder.kind == "closed"
        assert recorder.error is not None
        assert not recorder.error.before_answer
        assert recorder.error.reused
        assert len(upstream.requests) == 2


async def test_a_connection_that_ends_late_was_no_stale_one(
    client: HttpClient, send: SendCall
) -> None:
    """The peer had time to act on the request: asking again could pay twice."""
    late = asyncio.Event()
    async with ScriptedUpstream(reply(b"1"), [Pause(late), Close()], reply(b"2")) as upstream:
        await client.fetch(get(upstream.base_url))
        recorder = send(post(upstream.base_url, connect_deadline=0.0))
        await upstream.wait_requests(2)
        await asyncio.sleep(0.005)  # loops count in milliseconds
        late.set()
        await recorder.over()
        assert recorder.kind == "closed"
        assert recorder.error is not None
        assert recorder.error.before_answer
        assert recorder.error.reused


async def test_idle_connections_grow_old(troubles: list[dict[str, Any]]) -> None:
    async with (
        ScriptedUpstream(answer=lambda _: reply()) as upstream,
        HttpClient(idle_expiry=0.02) as client,
    ):
        await asyncio.gather(*(client.fetch(get(upstream.base_url)) for _ in range(3)))
        assert client.statistics().idle == 3
        await upstream.wait_closed(3)
        assert client.statistics().idle == 0


async def test_a_connection_too_old_is_not_used_even_before_it_is_swept(
    client: HttpClient,
) -> None:
    async with ScriptedUpstream(answer=lambda _: reply()) as upstream:
        await client.fetch(get(upstream.base_url))
        (connection,) = client._connections
        connection.expires = 0.0
        await client.fetch(get(upstream.base_url))
        assert upstream.connections == 2
        await upstream.wait_closed()


async def test_surplus_idle_connections_are_closed(troubles: list[dict[str, Any]]) -> None:
    async with (
        ScriptedUpstream(answer=lambda _: reply()) as upstream,
        HttpClient(most_idle=2) as client,
    ):
        await asyncio.gather(*(client.fetch(get(upstream.base_url)) for _ in range(5)))
        await upstream.wait_closed(3)
        assert client.statistics().idle == 2


async def test_statistics_count(client: HttpClient) -> None:
    async with ScriptedUpstream(reply(), reply(), [head(200), Stall()]) as upstream:
        await client.fetch(get(upstream.base_url))
        await client.fetch(get(upstream.base_url))
        async with client.stream(get(upstream.base_url)):
            statistics = client.statistics()
        assert (statistics.open, statistics.idle, statistics.connecting) == (1, 0, 0)
        assert (statistics.connected, statistics.reused, statistics.replaced) == (1, 2, 0)


async def test_what_cannot_be_sent_is_refused_at_once(client: HttpClient) -> None:
    for call in (
        Call("GET", "ftp://a.example", (), b""),
        Call("GET", "http://a.example", (("x", "a\r\nb: c"),), b""),
    ):
        with pytest.raises(ValueError):
            client.send(call, Recorder())
    assert client.statistics().connecting == 0


async def test_many_urls_are_not_remembered_for_ever(client: HttpClient) -> None:
    async with ScriptedUpstream(answer=lambda _: reply()) as upstream:
        for n in range(5000):
            client._learn(f"{upstream.base_url}/{n}")
        assert len(client._urls) <= 4096
        await client.fetch(get(upstream.base_url))


async def test_closing_the_client_ends_every_call(troubles: list[dict[str, Any]]) -> None:
    async with ScriptedUpstream(reply(), [Stall()], [head(200), Send(b"x"), Stall()]) as upstream:
        client = HttpClient()
        await client.fetch(get(upstream.base_url))
        waiting, reading, unstarted, connecting = (Recorder() for _ in range(4))
        client.send(get(upstream.base_url), waiting)
        await upstream.wait_requests(2)
        client.send(get(upstream.base_url), reading)
        await reading.until(lambda r: r.body)
        client.send(get(upstream.base_url.replace("http:", "https:")), connecting)
        await upstream.wait_connections(3)
        client.send(get(upstream.base_url), unstarted)
        await client.aclose()
        for recorder in (waiting, reading, connecting, unstarted):
            assert recorder.kind == "closed"
        assert client.statistics().open == 0
        await upstream.wait_closed(3)
        with pytest.raises(RuntimeError):
            client.send(get(upstream.base_url), Recorder())
        await client.aclose()


async def test_calls_leave_no_cycles_for_the_collector(client: HttpClient) -> None:
    async with ScriptedUpstream(answer=lambda _: reply(b"x" * 100)) as upstream:
        await client.fetch(get(upstream.base_url))
        gc.collect()
        gc.disable()
        try:
            recorder = Recorder()
            recorder.handle = client.send(get(upstream.base_url), recorder)
            await recorder.over()
            del recorder
            found = [o for o in gc.get_objects() if isinstance(o, Recorder)]
        finally:
            gc.enable()
    assert found == []


async def test_errors_say_where_and_never_what(client: HttpClient) -> None:
    async with ScriptedUpstream([Send(wire(reply())[:10]), Close()]) as upstream:
        call = Call("GET", upstream.base_url + "/?key=secret", (("x", "secret"),), b"secret")
        with pytest.raises(UpstreamError) as caught:
            await client.fetch(call)
    assert caught.value.kind is ErrorKind.CLOSED
    assert "secret" not in str(caught.value)
