"""Content encodings, streaming and bounded: gzip, deflate, br, zstd.

A decoder is given bytes as they come and asked for output in pieces of bounded size, so that a
bomb costs one piece of memory and the asker can stop at any time. All output that the input so far
allows can be had at once: an event of a compressed stream never waits for the next one.
Does not know HTTP, limits of whole bodies or back-pressure.
"""

import zlib
from typing import Protocol

import brotli
import zstandard

ACCEPTED = "gzip, deflate, br, zstd"

# RFC 9659: a zstd window in HTTP is at most 8 MiB.
_ZSTD_WINDOW = 8 * 1024 * 1024
# A run-length block of 4 bytes becomes 128 KiB, so 256 bytes become 8 MiB at worst. The library
# has no bound of its own on output.
_ZSTD_SLICE = 256


class DecodingError(Exception):
    """The bytes do not follow the encoding."""


class Decoder(Protocol):
    """Undoes one content encoding."""

    def push(self, data: bytes) -> None:
        """Hand over the next bytes. Only after `pull` gave nothing more."""

    def pull(self, most: int) -> bytes:
        """The next piece of output, empty when more input is needed.

        `most` is a bound in bytes for gzip and deflate; br may give up to 64 KiB and zstd up to
        8 MiB where that is more.

        Raises:
            DecodingError: broken input, or bytes after its end.
        """
        ...

    @property
    def whole(self) -> bool:
        """The input so far is complete (an empty input is)."""
        ...


def decoder_for(encoding: str) -> Decoder | None:
    """The decoder for a `content-encoding` value, None where there is nothing to undo.

    Raises:
        DecodingError: an encoding nobody asked for, or several at once.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return _Zlib(_GZIP)
        case "deflate":
            return _Zlib(None)
        case "br":
            return _Brotli()
        case "zstd":
            return _Zstandard()
        case _:
            raise DecodingError("unknown content encoding")


_GZIP = zlib.MAX_WBITS | 16
_RAW = -zlib.MAX_WBITS


class _Zlib:
    """gzip with any number of members; deflate in zlib's wrapper or, as some send it, bare."""

    __slots__ = ("_bits", "_input", "_more", "_stream", "_touched")

    def __init__(self, bits: int | None) -> None:
        self._bits = bits
        self._stream = None if bits is None else zlib.decompressobj(bits)
        self._input = b""
        self._more = False  # output may be waiting inside although all input is taken
        self._touched = False

    def push(self, data: bytes) -> None:
        self._input += data
        self._touched = True
        self._more = True

    def pull(self, most: int) -> bytes:
        while self._more:
            if self._stream is None and not self._choose():
                return b""
            stream = self._stream
            assert stream is not None  # noqa: S101 - _choose has set it
            if stream.eof and not self._next_member():
                return b""
            stream = self._stream or stream
            try:
                output = stream.decompress(self._input, most)
            except zlib.error:
                raise DecodingError("broken gzip or deflate") from None
            self._input = stream.unused_data if stream.eof else stream.unconsumed_tail
            self._more = bool(self._input) or len(output) >= most
            if output:
                return output
        return b""

    def _choose(self) -> bool:
        """Tell zlib's wrapper from bare deflate by the first two bytes, once they are there."""
        if len(self._input) < 2:
            self._more = False
            return False
        first, second = self._input[0], self._input[1]
        wrapped = first & 0x0F == zlib.DEFLATED and (first << 8 | second) % 31 == 0
        self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else _RAW)
        return True

    def _next_member(self) -> bool:
        if not self._input:
            self._more = False
            return False
        if self._bits != _GZIP:
            raise DecodingError("bytes after the end of a deflate stream")
        self._stream = zlib.decompressobj(_GZIP)
        return True

    @property
    def whole(self) -> bool:
        if not self._touched:
            return True
        return self._stream is not None and self._stream.eof and not self._input


class _Brotli:
    __slots__ = ("_input", "_more", "_stream", "_touched")

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._input = b""
        self._more = False
        self._touched = False

    def push(self, data: bytes) -> None:
        self._input += data
        self._touched = True
        self._more = True

    def pull(self, most: int) -> bytes:
        while self._more:
            if self._stream.is_finished():
                if self._input:
                    raise DecodingError("bytes after the end of a br stream")
                self._more = False
                return b""
            data = b""
            if self._stream.can_accept_more_data():
                data, self._input = self._input, b""
            try:
                output: bytes = self._stream.process(data, output_buffer_limit=most)
            except brotli.error:
                raise DecodingError("broken br") from None
            if output:
                return output  # and there may be more inside, even with all input taken
            self._more = bool(self._input) or not self._stream.can_accept_more_data()
        return b""

    @property
    def whole(self) -> bool:
        return not self._touched or bool(self._stream.is_finished())


class _Zstandard:
    """zstd with any number of frames."""

    __slots__ = ("_input", "_inside", "_stream")

    def __init__(self) -> None:
        self._input = memoryview(b"")
        self._inside = False  # a frame has begun and not ended
        self._stream = self._fresh()

    @staticmethod
    def _fresh() -> "zstandard.ZstdDecompressionObj":
        return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()

    def push(self, data: bytes) -> None:
        self._input = memoryview(bytes(self._input) + data)

    def pull(self, most: int) -> bytes:  # noqa: ARG002 - bounded by the slice
        while self._input:
            piece, self._input = self._input[:_ZSTD_SLICE], self._input[_ZSTD_SLICE:]
            self._inside = True
            try:
                output: bytes = self._stream.decompress(piece)
            except zstandard.ZstdError:
                raise DecodingError("broken zstd") from None
            if self._stream.eof:
                self._input = memoryview(self._stream.unused_data + bytes(self._input))
                self._stream = self._fresh()
                self._inside = False
            if output:
                return output
        return b""

    @property
    def whole(self) -> bool:
        return not self._inside and not self._input
