import contextlib
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.wire.resp import NOTHING, ErrorReply, ProtocolError, Push, Replies, command

ALL = (
    b"+OK\r\n:-42\r\n$5\r\na\r\nbc\r\n$-1\r\n_\r\n#t\r\n#f\r\n,1.5\r\n(123456\r\n=7\r\ntxt:abc\r\n"
    b"-ERR no such thing\r\n!9\r\nBUSY wait\r\n*2\r\n:1\r\n*1\r\n$0\r\n\r\n%1\r\n+a\r\n:1\r\n"
    b"~1\r\n:3\r\n>2\r\n+message\r\n$1\r\nx\r\n|1\r\n+ttl\r\n:9\r\n:5\r\n*-1\r\n"
)
READ: list[Any] = [
    b"OK",
    -42,
    b"a\r\nbc",
    None,
    None,
    True,
    False,
    1.5,
    b"123456",
    b"abc",
    ErrorReply("ERR no such thing"),
    ErrorReply("BUSY wait"),
    [1, [b""]],
    {b"a": 1},
    [3],
    Push([b"message", b"x"]),
    5,
    None,
]


def replies(*pieces: bytes) -> list[Any]:
    reading, out = Replies(), []
    for piece in pieces:
        reading.feed(piece)
        while (reply := reading.next()) is not NOTHING:
            out.append(reply)
    return out


def test_every_kind_of_reply_is_read() -> None:
    assert replies(ALL) == READ


@given(st.lists(st.integers(0, len(ALL)), max_size=12))
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(ALL)]
    assert replies(*(ALL[a:b] for a, b in itertools.pairwise(at))) == READ


def test_byte_by_byte_is_no_different() -> None:
    assert replies(*(ALL[at : at + 1] for at in range(len(ALL)))) == READ


@pytest.mark.parametrize(
    "wrong",
    [b"HTTP/1.1 400 Bad Request\r\n", b":x\r\n", b"$99999999999\r\n", b"*x\r\n", b"*1\r\n" * 20],
)
def test_what_is_no_reply_is_refused(wrong: bytes) -> None:
    with pytest.raises(ProtocolError):
        replies(wrong)


def test_a_command_is_a_list_of_texts() -> None:
    assert command("SET", b"k\r\n", 12) == b"*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$2\r\n12\r\n"


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        replies(data)
