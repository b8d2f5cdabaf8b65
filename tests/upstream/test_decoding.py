import gzip
import zlib
from collections.abc import Callable
from itertools import pairwise

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from zurelay.upstream.decoding import Decoder, DecodingError, decoder_for


def _bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip, two members": ("gzip", lambda d: gzip.compress(d[:5]) + gzip.compress(d[5:])),
    "deflate": ("deflate", zlib.compress),
    "deflate, bare": ("deflate", _bare_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "zstd, two frames": ("zstd", lambda d: zstandard.compress(d[:5]) + zstandard.compress(d[5:])),
}
everything = pytest.mark.parametrize("name", ENCODERS)
# what one pull may give at most, beyond what was asked for
SLACK = {"gzip": 0, "deflate": 0, "br": 64 * 1024, "zstd": 8 * 1024 * 1024}


def _decoder(encoding: str) -> Decoder:
    decoder = decoder_for(encoding)
    assert decoder is not None
    return decoder


def _pulled(decoder: Decoder, most: int = 1024) -> bytes:
    output = b""
    while piece := decoder.pull(most):
        output += piece
    return output


@everything
@given(
    data=st.binary(max_size=400) | st.binary(min_size=1, max_size=20).map(lambda b: b * 500),
    cuts=st.lists(st.integers(0, 600), max_size=8),
    most=st.integers(1, 3000),
)
def test_any_cutting_gives_the_same_bytes(
    name: str, data: bytes, cuts: list[int], most: int
) -> None:
    encoding, encode = ENCODERS[name]
    packed = encode(data)
    places = [0, *sorted(min(c, len(packed)) for c in cuts), len(packed)]
    decoder = _decoder(encoding)
    output = b""
    for start, stop in pairwise(places):
        decoder.push(packed[start:stop])
        output += _pulled(decoder, most)
    assert output == data
    assert decoder.whole


@everything
def test_what_is_cut_short_is_not_whole(name: str) -> None:
    encoding, encode = ENCODERS[name]
    packed = encode(b"some text that is long enough to be cut " * 3)
    taken_for_whole = []
    for length in range(1, len(packed)):
        decoder = _decoder(encoding)
        decoder.push(packed[:length])
        _pulled(decoder)
        if decoder.whole:
            taken_for_whole.append(length)
    # the end of a first member or frame is an end too, as far as anyone can tell
    assert len(taken_for_whole) == ("two" in name)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_nothing_at_all_is_whole(encoding: str) -> None:
    decoder = _decoder(encoding)
    assert _pulled(decoder) == b""
    assert decoder.whole


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_comes_in_bounded_pieces(encoding: str) -> None:
    encode: Callable[[bytes], bytes] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": lambda data: brotli.compress(data, quality=5),
        "zstd": zstandard.compress,
    }[encoding]
    size = 32 * 1024 * 1024
    decoder = _decoder(encoding)
    decoder.push(encode(bytes(size)))
    total = 0
    while piece := decoder.pull(64 * 1024):
        assert len(piece) <= 64 * 1024 + SLACK[encoding]
        total += len(piece)
    assert total == size
    assert decoder.whole


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_each_flushed_piece_can_be_had_at_once(encoding: str) -> None:
    packer = {
        "gzip": lambda: _flushing_zlib(31),
        "deflate": lambda: _flushing_zlib(15),
        "br": _flushing_brotli,
        "zstd": _flushing_zstandard,
    }[encoding]()
    decoder = _decoder(encoding)
    for number in range(20):
        event = f"data: {number}\n\n".encode()
        decoder.push(packer(event))
        assert _pulled(decoder) == event


def _flushing_zlib(bits: int) -> Callable[[bytes], bytes]:
    packer = zlib.compressobj(wbits=bits)
    return lambda data: packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


def _flushing_brotli() -> Callable[[bytes], bytes]:
    packer = brotli.Compressor()
    return lambda data: packer.process(data) + packer.flush()


def _flushing_zstandard() -> Callable[[bytes], bytes]:
    packer = zstandard.ZstdCompressor().compressobj()
    return lambda data: packer.compress(data) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


@everything
def test_garbage_is_refused(name: str) -> None:
    encoding, encode = ENCODERS[name]
    for broken in (b"\xff" * 40, encode(b"abc") + b"garbage!" * 10):
        decoder = _decoder(encoding)
        with pytest.raises(DecodingError):
            decoder.push(broken)
            _pulled(decoder)


def test_a_zstd_window_larger_than_http_allows_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=25)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    decoder = _decoder("zstd")
    decoder.push(packer.compress(b"x" * 100) + packer.flush())
    with pytest.raises(DecodingError):
        _pulled(decoder)


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_identity_needs_no_decoder(encoding: str) -> None:
    assert decoder_for(encoding) is None


@pytest.mark.parametrize("encoding", ["compress", "gzip, br", "aes128gcm"])
def test_encodings_nobody_asked_for_are_refused(encoding: str) -> None:
    with pytest.raises(DecodingError):
        decoder_for(encoding)
