"""Files inside of JSON, replaced by a note of their kind and size, so that text alone is kept.

Works on bytes that need not be whole or valid JSON, or are an event stream of it. Knows no wire
format: whatever is long and written in base64, as a data URL or as a whole string, is a file; so is
a long list of numbers called `embedding`. All else stays byte for byte, and JSON stays JSON.

Other threads get their turn between: no single step takes longer than a fraction of a millisecond.
"""

import re
from collections.abc import Iterator
from typing import Final

SHORTEST: Final = 2048
"""Characters of base64 below which it is left as it is."""

_DIGITS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
_RUN: Final = re.compile(rb"(?:[A-Za-z0-9+/=_-]+|\\/)*")
_STEP: Final = 128 * 1024
_MARK: Final = b";base64,"
_KIND: Final = re.compile(rb"data:([\w.+-]{1,60}\\?/[\w.+-]{1,60})(?:;[\w=.+-]{1,60}){0,4}\Z")
_LONGEST_KIND: Final = 400
_NUMBERS: Final = re.compile(rb'("embedding"\s*:\s*)\[([-+0-9.eE,\s]{512,})\]')
_STARTS: Final = (
    (b"iVBORw0KGgo", b"image/png"),
    (b"/9j/", b"image/jpeg"),
    (b"R0lGOD", b"image/gif"),
    (b"JVBERi0", b"application/pdf"),
    (b"SUQz", b"audio/mpeg"),
    (b"UklGR", b"image/webp or audio/wav"),
    (b"T2dnUw", b"audio/ogg"),
)


def without_files(data: bytes) -> bytes:
    """`data` with notes such as `[image/png, 31415 bytes, not kept]` in place of files."""
    if len(data) >= SHORTEST:
        data = b"".join(_pieces(data))
    return _NUMBERS.sub(_of_numbers, data)


def _pieces(data: bytes) -> Iterator[bytes]:
    """What becomes of the data, in order."""
    given = start = 0
    while start < len(data):
        end = data.find(b'"', start)
        if end < 0:
            end = len(data)
        if end - start >= SHORTEST:
            yield data[given:start]
            given = end
            if _run_end(data, start, end) == end:
                yield _note(_kind_of(data[start : start + 16]), data[start:end])
            else:
                yield from _with_urls_noted(data, start, end)
        start = end + 1
    yield data[given:]


def _with_urls_noted(data: bytes, start: int, end: int) -> Iterator[bytes]:
    """A string, or the rest of one, without the files of its data URLs."""
    given = start
    while (mark := data.find(_MARK, start, end)) >= 0:
        start = mark + len(_MARK)
        stop = _run_end(data, start, end)
        head = data[max(given, mark - _LONGEST_KIND) : mark]
        found = _KIND.search(head)
        if found is not None and stop - start >= SHORTEST:
            yield data[given : mark - len(head) + found.start()]
            yield _note(found[1].replace(b"\\", b""), data[start:stop])
            given = stop
        start = stop
    yield data[given:end]


def _run_end(data: bytes, start: int, end: int) -> int:
    """Where the first character stands that is not of base64; a slash may be escaped."""
    while start < end:
        piece = data[start : min(end, start + _STEP)]
        found = _RUN.match(piece) if piece.translate(None, _DIGITS) else None
        stop = start + (len(piece) if found is None else found.end())
        if stop < start + len(piece) and (stop == start or data[stop : stop + 2] != b"\\/"):
            return stop
        start = stop
    return end


def _kind_of(start: bytes) -> bytes:
    plain = start.replace(b"\\", b"")
    return next((kind for first, kind in _STARTS if plain.startswith(first)), b"data")


def _of_numbers(found: "re.Match[bytes]") -> bytes:
    return b'%b"[%d numbers, not kept]"' % (found[1], found[2].count(b",") + 1)


def _note(kind: bytes, digits: bytes) -> bytes:
    size = (len(digits) - digits.count(b"\\") - digits.count(b"=", -4)) * 3 // 4
    return b"[%b, %d bytes, not kept]" % (kind, size)
