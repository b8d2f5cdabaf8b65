import asyncio
import gzip
import json
import zlib

from zurelay.testing import (
    LAST_CHUNK,
    Close,
    Pause,
    Reset,
    Send,
    byte_by_byte,
    chunk,
    cut,
    gzip_reply,
    head,
    json_reply,
    reply,
    sse_event,
    sse_reply,
    wire,
)


def test_a_reply_is_one_write_with_a_length() -> None:
    assert reply(b"hello", 201, {"x": "y"}) == [
        Send(b"HTTP/1.1 201 Scripted\r\ncontent-length: 5\r\nx: y\r\n\r\nhello")
    ]


def test_a_reply_can_lie_about_its_length() -> None:
    assert b"content-length: 9\r\n" in wire(reply(b"hello", headers={"content-length": "9"}))


def test_a_json_reply_says_so() -> None:
    start, _, body = wire(json_reply({"a": 1}, 404)).partition(b"\r\n\r\n")
    assert start.startswith(b"HTTP/1.1 404 ")
    assert b"content-type: application/json" in start
    assert json.loads(body) == {"a": 1}


def test_a_gzip_reply_is_compressed() -> None:
    start, _, body = wire(gzip_reply(b"hello")).partition(b"\r\n\r\n")
    assert b"content-encoding: gzip" in start
    assert gzip.decompress(body) == b"hello"


def test_events_are_framed() -> None:
    assert sse_event("a\nb", event="e") == b"event: e\ndata: a\ndata: b\n\n"
    assert sse_event({"a": 1}) == b'data: {"a": 1}\n\n'


def test_a_stream_has_a_chunk_for_each_event_and_gaps_between_them() -> None:
    gate = asyncio.Event()
    script = sse_reply(["a", b": comment\n\n", "c"], gap=gate)
    assert script[1:] == [
        chunk(b"data: a\n\n"),
        Pause(gate),
        chunk(b": comment\n\n"),
        Pause(gate),
        chunk(b"data: c\n\n"),
        LAST_CHUNK,
    ]


def test_a_compressed_stream_is_flushed_at_each_event() -> None:
    _, first, *_ = sse_reply(["a", "b"], compressed=True)
    assert isinstance(first, Send)
    packed = first.data.split(b"\r\n", 1)[1][:-2]
    assert zlib.decompressobj(wbits=31).decompress(packed) == b"data: a\n\n"


def test_byte_by_byte_sends_the_same_in_single_bytes() -> None:
    script = [head(200), Pause(1.0), Send(b"ab"), Close()]
    single = byte_by_byte(script)
    assert wire(single) == wire(script)
    assert all(len(step.data) == 1 for step in single if isinstance(step, Send))
    assert Pause(1.0) in single
    assert single[-1] == Close()


def test_a_cut_ends_after_so_many_bytes() -> None:
    assert cut([Send(b"abc"), Send(b"def"), Close()], 4) == [Send(b"abcd"), Close()]
    assert cut([Send(b"abc")], 1, Reset()) == [Send(b"a"), Reset()]
