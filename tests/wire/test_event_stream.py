"""The binary event stream, against bytes built by hand and by AWS's own library."""

import struct
from itertools import pairwise
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from zurelay.testing.event_stream import (
    event_stream_event,
    event_stream_exception,
    event_stream_message,
)
from zurelay.wire.event_stream import MAX_MESSAGE, BrokenStream, Message, MessageReader

# Two of the test vectors that AWS publishes with its SDKs.
EMPTY = bytes.fromhex("000000100000000005c248eb7d98c8ff")
ONE_HEADER = bytes.fromhex(
    "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e"
    "7b27666f6f273a27626172277d8d9c08b1"
)
STREAM = [
    event_stream_event("messageStart", {"role": "assistant"}),
    event_stream_event("contentBlockDelta", {"delta": {"text": "é" * 40}}),
    event_stream_exception("throttlingException", "slow down"),
    event_stream_message({}, b""),
]


def frame(headers: bytes, payload: bytes = b"") -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    start = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return start + struct.pack(">I", crc32(start))


def test_published_vectors_are_read() -> None:
    assert MessageReader().feed(EMPTY) == [Message({}, b"")]
    assert MessageReader().feed(ONE_HEADER) == [
        Message({"content-type": "application/json"}, b"{'foo':'bar'}")
    ]


@given(st.lists(st.integers(0, sum(map(len, STREAM))), max_size=8))
def test_any_cutting_gives_the_messages_that_awss_own_reader_gives(cuts: list[int]) -> None:
    raw = b"".join(STREAM)
    buffer = EventStreamBuffer()
    buffer.add_data(raw)
    theirs = [Message(event.headers, event.payload) for event in buffer]
    reader = MessageReader()
    edges = [0, *sorted(cuts), len(raw)]
    ours = [message for a, b in pairwise(edges) for message in reader.feed(raw[a:b])]
    assert ours == theirs
    assert len(ours) == len(STREAM)
    assert reader.between


def test_byte_by_byte_nothing_is_told_early() -> None:
    reader = MessageReader()
    counts = [len(reader.feed(bytes([byte]))) for byte in STREAM[0]]
    assert counts == [0] * (len(STREAM[0]) - 1) + [1]
    reader.feed(STREAM[1][:5])
    assert not reader.between


def test_headers_of_every_type_are_passed_over_and_texts_kept() -> None:
    values = {
        0: b"",
        1: b"",
        2: b"\x01",
        3: b"\x00\x02",
        4: b"\x00" * 4,
        5: b"\x00" * 8,
        6: b"\x00\x03abc",
        8: b"\x00" * 8,
        9: b"\x00" * 16,
    }
    packed = b"".join(b"\x01a" + bytes([kind]) + value for kind, value in values.items())
    message = MessageReader().feed(frame(packed + b"\x01z\x07\x00\x02hi", b"body"))
    assert message == [Message({"z": "hi"}, b"body")]


@pytest.mark.parametrize("place", range(len(STREAM[0])))
def test_a_changed_byte_never_passes(place: int) -> None:
    broken = bytearray(STREAM[0])
    broken[place] ^= 0x01
    reader = MessageReader()
    with pytest.raises(BrokenStream) as caught:
        reader.feed(STREAM[1] + bytes(broken) + STREAM[2])
    assert [m.headers[":event-type"] for m in caught.value.messages] == ["contentBlockDelta"]


@pytest.mark.parametrize(
    "headers",
    [
        b"\x05ab",  # a name that is cut
        b"\x01a",  # no type
        b"\x01a\x63",  # an unknown type
        b"\x01a\x07\x00",  # a length that is cut
        b"\x01a\x07\x00\x09hi",  # a value that is cut
        b"\x01a\x04\x00",  # a number that is cut
        b"\x01a\x07\x00\x01\xff",  # no UTF-8
    ],
)
def test_headers_that_cannot_be_read_break_the_stream(headers: bytes) -> None:
    with pytest.raises(BrokenStream, match="headers"):
        MessageReader().feed(frame(headers))


@pytest.mark.parametrize("lengths", [(MAX_MESSAGE + 1, 0), (15, 0), (16, 1), (40, 25)])
def test_impossible_lengths_are_refused_before_more_is_awaited(lengths: tuple[int, int]) -> None:
    prelude = struct.pack(">II", *lengths)
    with pytest.raises(BrokenStream, match="bytes"):
        MessageReader().feed(prelude + struct.pack(">I", crc32(prelude)))
