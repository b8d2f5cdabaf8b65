"""Request bodies: content encodings opened within a bound.

Knows encodings; nothing of JSON.
"""

import zlib

import brotli
import zstandard

from zurelay.chat import problems
from zurelay.chat.problems import Refused

_MB = 1024 * 1024
_IDENTITY = frozenset({"", "identity"})


def decode(body: bytes, encoding: str, limit: int) -> bytes:
    """The body without its content encoding.

    Args:
        body: as it came.
        encoding: the `content-encoding` header, any case; several are undone from the last.
        limit: most bytes it may open to.

    Raises:
        Refused: 415 for an unknown encoding, 400 for a broken one, 413 beyond the limit.
    """
    names = [name.strip().lower() for name in encoding.split(",")]
    if len(names) > 3:
        raise Refused(problems.bad_encoding(_printable(encoding)))
    for name in reversed(names):
        if name in _IDENTITY:
            continue
        opener = _OPENERS.get(name)
        if opener is None:
            raise Refused(problems.bad_encoding(_printable(name)))
        try:
            body = opener(body, limit)
        except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as error:
            raise Refused(problems.invalid_json(f"The body is not valid {name} data.")) from error
        if len(body) > limit:
            raise Refused(body_too_large(limit))
    return body


def body_too_large(limit: int) -> problems.Problem:
    """413, naming the limit."""
    size = f"{limit // _MB} MB" if limit >= _MB else f"{limit // 1024} KB"
    return problems.too_large(f"The request body is larger than {size} after decompression.")


def _printable(name: str) -> str:
    return "".join(c for c in name[:40] if c.isascii() and c.isprintable())


def _gzip(body: bytes, limit: int) -> bytes:
    return _inflate(body, limit, zlib.MAX_WBITS | 16)


def _deflate(body: bytes, limit: int) -> bytes:
    # RFC 9110 means zlib's format; some clients send the raw stream.
    try:
        return _inflate(body, limit, zlib.MAX_WBITS)
    except zlib.error:
        return _inflate(body, limit, -zlib.MAX_WBITS)


def _inflate(body: bytes, limit: int, window: int) -> bytes:
    opened = zlib.decompressobj(window)
    out = opened.decompress(body, limit + 1)
    if len(out) <= limit and not opened.eof:
        raise EOFError
    return out


def _brotli(body: bytes, limit: int) -> bytes:
    opened = brotli.Decompressor()
    out = opened.process(body, output_buffer_limit=limit + 1)
    parts = [out]
    size = len(out)
    while size <= limit and not opened.is_finished():
        out = opened.process(b"", output_buffer_limit=limit + 1 - size)
        if not out:
            raise EOFError
        parts.append(out)
        size += len(out)
    return b"".join(parts)


def _zstd(body: bytes, limit: int) -> bytes:
    opened = zstandard.ZstdDecompressor(max_window_size=64 * 1024 * 1024)
    parts: list[bytes] = []
    size = 0
    with opened.stream_reader(body, read_across_frames=True) as reader:
        while size <= limit:
            out = reader.read(min(1024 * 1024, limit + 1 - size))
            if not out:
                break
            parts.append(out)
            size += len(out)
    if not parts:
        raise EOFError
    return b"".join(parts)


_OPENERS = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
