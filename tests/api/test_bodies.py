"""Encoded bodies open within a bound, or are refused for what is wrong with them."""

import gzip
import resource
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from zurelay.api.bodies import decode
from zurelay.chat.problems import Refused

TEXT = b'{"model": "m", "messages": []}' * 400
LIMIT = len(TEXT)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def two_zstd_frames(data: bytes) -> bytes:
    half = len(data) // 2
    return zstandard.compress(data[:half]) + zstandard.compress(data[half:])


PACKED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "x-gzip": ("X-GZIP", gzip.compress(TEXT)),
    "deflate": ("deflate", zlib.compress(TEXT)),
    "raw deflate": ("deflate", raw_deflate(TEXT)),
    "br": ("br", brotli.compress(TEXT)),
    "zstd": ("zstd", zstandard.compress(TEXT)),
    "two zstd frames": ("zstd", two_zstd_frames(TEXT)),
    "identity": ("identity", TEXT),
    "two encodings": ("gzip, br", brotli.compress(gzip.compress(TEXT))),
}


def refused(body: bytes, encoding: str, limit: int = LIMIT) -> Refused:
    with pytest.raises(Refused) as caught:
        decode(body, encoding, limit)
    return caught.value


@pytest.mark.parametrize("name", PACKED)
def test_every_encoding_opens_up_to_exactly_the_limit(name: str) -> None:
    encoding, body = PACKED[name]
    assert decode(body, encoding, LIMIT) == TEXT


@pytest.mark.parametrize("name", [n for n in PACKED if n != "identity"])
def test_one_byte_beyond_the_limit_is_too_large(name: str) -> None:
    encoding, body = PACKED[name]
    problem = refused(body, encoding, LIMIT - 1).problem
    assert (problem.status, problem.code) == (413, "request_too_large")


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_cut_off_is_the_callers_fault(name: str) -> None:
    encoding, body = PACKED[name]
    for cut in (1, len(body) // 2, len(body) - 1):
        problem = refused(body[:cut], encoding).problem
        assert (problem.status, problem.code) == (400, "invalid_json")


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_garbage_is_the_callers_fault(name: str) -> None:
    assert refused(b"this is no such thing", name).problem.status == 400


def test_an_unknown_encoding_says_which_ones_are_known() -> None:
    problem = refused(b"", "compress").problem
    assert problem.status == 415
    assert "gzip, deflate, br, zstd" in problem.message


def test_an_encoding_that_would_not_show_is_not_repeated() -> None:
    assert "\x1b" not in refused(b"", "evil\x1b[31m").problem.message


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(bytes(300_000_000), 6)),
        ("zstd", zstandard.compress(bytes(300_000_000))),
    ],
)
def test_a_bomb_costs_no_more_memory_than_the_limit(encoding: str, bomb: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refused(bomb, encoding, 20_000_000).problem.status == 413
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) * 1024 < 100_000_000


@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_whatever_comes_is_opened_or_refused(body: bytes, encoding: str) -> None:
    try:
        assert len(decode(body, encoding, 1000)) <= 1000
    except Refused as refusal:
        assert refusal.problem.status in (400, 413)
