import asyncio
import json

import pytest

from bench import upstream

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 16\r\n\r\n"
PLAIN = HEAD + b'{"stream":false}'
STREAM = HEAD + b'{"stream": true}'


async def exchange(server: asyncio.Server, request: bytes, until: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(request)
    got = await reader.readuntil(until)
    writer.close()
    return got


def without_chunks(raw: bytes) -> bytes:
    """The body of a chunked answer."""
    body, rest = b"", raw.partition(b"\r\n\r\n")[2]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body


async def test_a_plain_request_gets_a_whole_chat_answer() -> None:
    async with await upstream.start() as server:
        raw = await exchange(server, PLAIN, b'"default","system_fingerprint":"fp_560af6e559"}')
    answer = json.loads(raw.partition(b"\r\n\r\n")[2])
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] == 45


@pytest.mark.parametrize("interval", ["0", "0.001"])
async def test_a_stream_has_role_events_finish_usage_and_end(interval: str) -> None:
    script = f"GET /script?events=5&interval={interval}&spread=1 HTTP/1.1\r\n\r\n".encode()
    async with await upstream.start() as server:
        await exchange(server, script, b"}")
        raw = await exchange(server, STREAM, b"0\r\n\r\n")
    events = without_chunks(raw).decode().split("\n\n")[:-1]
    assert events[-1] == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
    content = [c["choices"][0]["delta"].get("content") for c in chunks if c["choices"]]
    assert content[0] == ""
    assert content.count(" brown fox") == (5 if interval == "0" else 6)
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["prompt_tokens"] == 21


async def test_it_counts_its_answers() -> None:
    async with await upstream.start() as server:
        for _ in range(3):
            await exchange(server, PLAIN, b"fp_560af6e559")
        told = await exchange(server, b"GET /script HTTP/1.1\r\n\r\n", b"}")
    assert json.loads(told.partition(b"\r\n\r\n")[2])["answers"] == 3


async def test_bytes_that_are_no_http_close_the_connection() -> None:
    async with await upstream.start() as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"\x16\x03\x01 no http\r\n\r\n")
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()
