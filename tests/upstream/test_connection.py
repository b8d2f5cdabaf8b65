"""Answers in every shape HTTP/1.1 allows, and many it does not."""

import asyncio
import gzip
from collections.abc import Callable

import pytest

from tests.upstream.recorder import Recorder, get, post
from zurelay.testing import (
    LAST_CHUNK,
    Close,
    Pause,
    Reset,
    Script,
    ScriptedUpstream,
    Send,
    byte_by_byte,
    chunk,
    cut,
    head,
    json_reply,
    reply,
    wire,
)
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient

SendCall = Callable[[Call], Recorder]
CHUNKED = {"transfer-encoding": "chunked"}


async def _play(
    send: SendCall, *scripts: Script, method: str = "POST", limit: int | None = None
) -> Recorder:
    async with ScriptedUpstream(*scripts) as upstream:
        url = upstream.base_url
        call = (
            post(url, limit=limit) if method == "POST" else Call(method, url, (), b"", limit=limit)
        )
        return await send(call).over()


WHOLE: dict[str, tuple[Script, bytes]] = {
    "with a length": (reply(b"hello"), b"hello"),
    "empty": (reply(b""), b""),
    "chunked": ([head(200, CHUNKED), chunk(b"hel"), chunk(b"lo"), LAST_CHUNK], b"hello"),
    "chunked, no chunk": ([head(200, CHUNKED), LAST_CHUNK], b""),
    "chunk extensions": (
        [head(200, CHUNKED), Send(b'5;a=b;c="d"\r\nhello\r\n0;x\r\n\r\n')],
        b"hello",
    ),
    "chunk sizes in capitals and with zeros": (
        [head(200, CHUNKED), Send(b"00A\r\n0123456789\r\n000\r\n\r\n")],
        b"0123456789",
    ),
    "trailers": (
        [head(200, CHUNKED), chunk(b"hello"), Send(b"0\r\nx-t: 1\r\ny: 2\r\n\r\n")],
        b"hello",
    ),
    "until the end": ([head(200), Send(b"hello"), Close()], b"hello"),
    "HTTP/1.0": ([Send(b"HTTP/1.0 200 OK\r\n\r\nhello"), Close()], b"hello"),
    "no reason": ([Send(b"HTTP/1.1 200\r\ncontent-length: 5\r\n\r\nhello")], b"hello"),
    "after 1xx": (
        [head(100), head(102, {"a": "b"}), head(103, {"link": "x"}), *reply(b"hello")],
        b"hello",
    ),
    "offering another protocol": (
        reply(b"hello", headers={"upgrade": "h2,h2c", "connection": "upgrade"}),
        b"hello",
    ),
    "204": ([head(204)], b""),
    "304 with a length": ([head(304, {"content-length": "100"})], b""),
    "gzip": (
        reply(gzip.compress(b"hello", mtime=0), headers={"content-encoding": "gzip"}),
        b"hello",
    ),
    "gzip in capitals": (
        reply(gzip.compress(b"hello", mtime=0), headers={"Content-Encoding": "GZIP"}),
        b"hello",
    ),
    "gzip of nothing": ([head(204, {"content-encoding": "gzip"})], b""),
    "gzip, empty body": (reply(b"", headers={"content-encoding": "gzip"}), b""),
}
whole = pytest.mark.parametrize("name", WHOLE)


@whole
async def test_whole_answers_arrive(name: str, send: SendCall) -> None:
    script, body = WHOLE[name]
    recorder = await _play(send, script)
    assert recorder.error is None
    assert recorder.body == body
    assert recorder.heard == ["head", *["data"] * len(recorder.chunks), "end"]


@whole
async def test_whole_answers_arrive_byte_by_byte(name: str, send: SendCall) -> None:
    script, body = WHOLE[name]
    recorder = await _play(send, byte_by_byte(script))
    assert recorder.error is None
    assert recorder.body == body


@pytest.mark.parametrize(
    "name",
    [n for n, (script, _) in WHOLE.items() if not any(isinstance(s, Close) for s in script)],
)
async def test_a_cut_at_any_byte_is_never_taken_for_an_end(name: str, client: HttpClient) -> None:
    script, body = WHOLE[name]
    length = len(wire(script))
    scripts: list[Script] = [cut(script, n) for n in range(length)]
    async with ScriptedUpstream(*scripts) as upstream:
        for n in range(length):
            recorder = Recorder()
            client.send(post(upstream.base_url), recorder)
            await recorder.over()
            assert recorder.kind == "closed", n
            assert recorder.error is not None
            assert recorder.error.before_answer == (n == 0)
            assert body.startswith(recorder.body)


async def test_a_reset_in_a_body_is_told_after_what_came(send: SendCall) -> None:
    arrived = asyncio.Event()
    script = [head(200, {"content-length": "10"}), Send(b"hello"), Pause(arrived), Reset()]
    async with ScriptedUpstream(script) as upstream:
        recorder = send(post(upstream.base_url))
        await recorder.until(lambda r: r.body == b"hello")
        arrived.set()
        await recorder.over()
    assert recorder.kind == "closed"
    assert recorder.error is not None
    assert not recorder.error.before_answer


async def test_a_reset_of_an_answer_without_a_length_is_no_end(send: SendCall) -> None:
    arrived = asyncio.Event()
    async with ScriptedUpstream([head(200), Send(b"hello"), Pause(arrived), Reset()]) as upstream:
        recorder = send(post(upstream.base_url))
        await recorder.until(lambda r: r.body == b"hello")
        arrived.set()
        assert (await recorder.over()).kind == "closed"


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"\x16\x03\x01\x00\x02\x02\x28 this is TLS\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"ICY 200 OK\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, gzip\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello",
        b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nframes",
        b"HTTP/1.1 101 Switching\r\n\r\nframes",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n\r\n"
        + gzip.compress(b"x", mtime=0)[:10],
    ],
)
async def test_what_is_no_http_answer_is_a_protocol_error(answer: bytes, send: SendCall) -> None:
    recorder = await _play(send, [Send(answer)])
    assert recorder.kind == "protocol"
    assert recorder.error is not None
    assert not recorder.error.before_answer


async def test_what_came_before_a_broken_chunk_is_handed_over(send: SendCall) -> None:
    recorder = await _play(send, [Send(wire([head(200, CHUNKED), chunk(b"hello")]) + b"zz\r\n")])
    assert recorder.body == b"hello"
    assert recorder.kind == "protocol"


@pytest.mark.parametrize(
    "script",
    [
        reply(headers={"x": "y" * 70_000}),
        reply(headers={f"x-{n}": "y" for n in range(10_000)}),
        [Send(b"HTTP/1.1 200 " + b"OK" * 40_000)],
        [Send(b"HTTP/1.1 200 OK\r\n" + b"x" * 70_000)],
        [Send(wire([head(100)]) * 5_000)],
        [head(200, CHUNKED), chunk(b"x"), Send(b"5;" + b"e" * 700_000)],
        [head(200, CHUNKED), chunk(b"x"), Send(b"0\r\nt: " + b"e" * 700_000)],
        [head(200, CHUNKED), chunk(b"x"), Send(b"0\r\n" + b"t: e\r\n" * 20_000 + b"\r\n")],
    ],
    ids=["value", "many", "reason", "name", "1xx", "extension", "trailer", "trailers"],
)
@pytest.mark.parametrize("small", [False, True])
async def test_heads_without_end_are_refused(script: Script, small: bool, send: SendCall) -> None:
    if small:
        data = wire(script)
        script = [
            step for n in range(0, len(data), 1000) for step in (Send(data[n : n + 1000]), Pause(0))
        ]
    recorder = await _play(send, script)
    assert recorder.kind == "too_large"


async def test_many_small_chunks_are_no_head_without_end(send: SendCall) -> None:
    body = [chunk(b"x") for _ in range(40_000)]
    recorder = await _play(send, [Send(wire([head(200, CHUNKED), *body, LAST_CHUNK]))])
    assert recorder.error is None
    assert recorder.body == b"x" * 40_000


@pytest.mark.parametrize(
    ("script", "limit", "kind"),
    [
        (reply(b"x" * 100), 100, None),
        (reply(b"x" * 101), 100, "too_large"),
        ([head(200, CHUNKED), *[chunk(b"x" * 10)] * 11, LAST_CHUNK], 100, "too_large"),
        (
            reply(gzip.compress(bytes(1_000_000), mtime=0), headers={"content-encoding": "gzip"}),
            100_000,
            "too_large",
        ),
        (
            reply(gzip.compress(bytes(1_000_000), mtime=0), headers={"content-encoding": "gzip"}),
            1_000_000,
            None,
        ),
    ],
)
async def test_the_limit_counts_decoded_bytes(
    script: Script, limit: int, kind: str | None, send: SendCall
) -> None:
    recorder = await _play(send, script, limit=limit)
    assert recorder.kind == kind
    assert len(recorder.body) <= limit


async def test_an_answer_to_head_has_no_body(send: SendCall) -> None:
    recorder = await _play(
        send, [head(200, {"content-length": "100", "content-encoding": "gzip"})], method="HEAD"
    )
    assert recorder.heard == ["head", "end"]


async def test_repeated_headers_are_joined_and_names_are_lower_case(send: SendCall) -> None:
    recorder = await _play(
        send,
        [Send(b"HTTP/1.1 429 X\r\nVia: a\r\nvIA: b\r\nX-Y: \xe9 \r\nContent-Length: 0\r\n\r\n")],
    )
    assert recorder.status == 429
    assert recorder.headers == {"via": "a, b", "x-y": "\xe9", "content-length": "0"}


async def test_trailers_are_not_taken_for_headers(send: SendCall) -> None:
    recorder = await _play(send, WHOLE["trailers"][0])
    assert "x-t" not in recorder.headers


REUSE: dict[str, tuple[Script, bool]] = {
    "with a length": (reply(b"hello"), True),
    "chunked": (WHOLE["chunked"][0], True),
    "trailers": (WHOLE["trailers"][0], True),
    "1xx first": (WHOLE["after 1xx"][0], True),
    "204": ([head(204)], True),
    "304": ([head(304, {"content-length": "5"})], True),
    "says close": (reply(b"hello", headers={"connection": "close"}), False),
    "HTTP/1.0": ([Send(b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello")], False),
    "HTTP/1.0 that keeps": (
        [Send(b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\nhello")],
        True,
    ),
    "longer than it says": ([Send(wire(reply(b"hello")) + b"more")], False),
    "followed by another": ([Send(wire(reply(b"hello")) + wire(reply(b"evil")))], False),
    "chunked, and more": ([Send(wire(WHOLE["chunked"][0]) + b"more")], False),
    "kept for long": (reply(b"hello", headers={"keep-alive": "timeout=20, max=9"}), True),
    "kept for a moment": (reply(b"hello", headers={"keep-alive": "timeout=1"}), False),
    "kept for nonsense": (
        reply(b"hello", headers={"keep-alive": "timeout=x, y, =, timeout"}),
        True,
    ),
}


@pytest.mark.parametrize("name", REUSE)
async def test_a_connection_is_used_again_only_if_that_is_safe(
    name: str, client: HttpClient
) -> None:
    script, again = REUSE[name]
    async with ScriptedUpstream(script, json_reply({"second": True})) as upstream:
        first = await client.fetch(get(upstream.base_url))
        second = await client.fetch(get(upstream.base_url))
        assert first.body in {b"hello", b"0123456789", b""}
        assert second.body == b'{"second": true}'
        assert upstream.connections == (1 if again else 2)


async def test_bytes_while_idle_close_the_connection(client: HttpClient) -> None:
    later = asyncio.Event()
    evil = [*reply(b"one"), Pause(later), *reply(b"evil")]
    async with ScriptedUpstream(evil, reply(b"two")) as upstream:
        assert (await client.fetch(get(upstream.base_url))).body == b"one"
        later.set()
        await upstream.wait_closed()
        assert client.statistics().idle == 0
        assert (await client.fetch(get(upstream.base_url))).body == b"two"


async def test_an_answer_before_the_request_was_read_is_delivered(client: HttpClient) -> None:
    """A server that refuses a large body by its head: the rest of the body is not its next call."""
    refused = asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(wire(reply(b"too much", 413)))
        await refused.wait()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    response = await client.fetch(post(f"http://127.0.0.1:{port}", bytes(20_000_000)))
    assert (response.status, response.body) == (413, b"too much")
    assert client.statistics().idle == 0
    refused.set()
    server.close()
    await server.wait_closed()


async def test_a_large_body_arrives_whole(client: HttpClient) -> None:
    body = bytes(range(256)) * 40_000
    async with ScriptedUpstream(reply(b"ok")) as upstream:
        await client.fetch(post(upstream.base_url, body))
        assert upstream.requests[0].body == body
