"""The frame reader: any cutting of the bytes gives the same events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.wire import sse
from zurelay.wire.sse import Frame, FrameReader, FrameTooLong

STREAM = (
    '\ufeffevent: a\r\ndata: {"t":"x\u2028y\x0bz\u00e9\U0001f600"}\r\n\r\n'
    ": keep-alive\n\ndata: 1\ndata:2\n\n\rdata: lone\r\rdata: [DONE]\n\n"
).encode()
FRAMES = [
    Frame('{"t":"x\u2028y\x0bz\u00e9\U0001f600"}'.encode(), b"a"),
    Frame(b"1\n2"),
    Frame(b"lone"),
    Frame(b"[DONE]"),
]


def read(pieces: list[bytes]) -> list[Frame]:
    reader = FrameReader()
    return [frame for piece in pieces for frame in reader.feed(piece)] + reader.end()


def test_whole_and_byte_by_byte() -> None:
    assert read([STREAM]) == FRAMES
    assert read([STREAM[i : i + 1] for i in range(len(STREAM))]) == FRAMES


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_and_every_single_cut(end: bytes) -> None:
    raw = end.join(
        [b"\xef\xbb\xbf: hi", b"", b"data:a", b"id: 7", b"data: b", b"", b"data", b"", b""]
    )
    for cut in range(len(raw) + 1):
        assert read([raw[:cut], raw[cut:]]) == [Frame(b"a\nb"), Frame(b"")]


def test_an_event_is_handed_out_as_soon_as_its_blank_line_is_there() -> None:
    reader = FrameReader()
    assert reader.feed(b"data: a\r\n\r") == [Frame(b"a")]
    assert reader.feed(b"\ndata: b\n") == []
    assert reader.feed(b"\n") == [Frame(b"b")]


def test_many_plain_events_in_one_piece() -> None:
    reader = FrameReader()
    reader.feed(b": hello\n\n")
    piece = b"data: 1\n\ndata: 2\n\nevent: x\ndata: 3\n\n: c\n\ndata: 4\n\n"
    assert reader.feed(piece) == [Frame(b"1"), Frame(b"2"), Frame(b"3", b"x"), Frame(b"4")]


def test_the_end_gives_the_event_it_leaves_open() -> None:
    assert read([b"data: [DONE]"]) == [Frame(b"[DONE]")]
    assert read([b"data: a\ndata: b\n"]) == [Frame(b"a\nb")]
    assert read([b": only a comment"]) == []


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_line_beyond_the_limit_fails_however_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(sse, "MAX_LINE", 20)
    raw = b"data: ok\n\ndata: " + b"x" * 30 + b"\n\n"
    reader, frames = FrameReader(), []
    with pytest.raises(FrameTooLong) as caught:
        for start in range(0, len(raw), size):
            frames += reader.feed(raw[start : start + size])
    assert frames + caught.value.frames == [Frame(b"ok")]


def test_many_short_data_lines_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_LINE", 20)
    with pytest.raises(FrameTooLong):
        FrameReader().feed(b"data: 123456\n" * 4)


FIELDS = st.lists(
    st.sampled_from(
        [
            b"data: a",
            b"data:b",
            b"data",
            b"event: e",
            b": c",
            b"id: 1",
            b"",
            b"",
            b"x",
            b"data: \xe5",
        ]
    ),
    max_size=12,
)


@given(FIELDS, st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=1), st.data())
def test_any_lines_any_cuts(lines: list[bytes], ends: list[bytes], data: st.DataObject) -> None:
    raw = b"".join(line + ends[i % len(ends)] for i, line in enumerate(lines))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert read(pieces) == read([raw])


@given(st.binary(max_size=200), st.data())
def test_any_bytes_any_cut(raw: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(raw)))
    assert read([raw[:cut], raw[cut:]]) == read([raw])
