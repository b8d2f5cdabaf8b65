"""JSON views: fields as bytes, an encoder that never fails, an exact bound on depth."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.wire.json import (
    BadJson,
    decode,
    encode,
    fields,
    readable,
    too_deep,
    upstream_fields,
)

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('{}[]"\\a', max_size=4), inner, max_size=4)
    ),
    max_leaves=30,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(ANY_JSON, st.integers(0, 6))
def test_depth_is_exact(value: Any, limit: int) -> None:
    assert too_deep(json.dumps(value).encode(), limit) == (depth(value) > limit)


@pytest.mark.parametrize("deep", [100, 101])
@pytest.mark.parametrize("pair", [("[", "]"), ('{"}]":', "}"), ('[{"a":"{{{["},', "]")])
def test_a_hundred_levels_are_enough(deep: int, pair: tuple[str, str]) -> None:
    body = (pair[0] * deep + "1" + pair[1] * deep).encode()
    assert too_deep(body) == (depth(json.loads(body)) > 100)


def test_fields_keep_bytes_order_and_the_last_of_repeated_keys() -> None:
    view = fields(b' {"b": 1.50 , "a":[1, 2],"b":1e400}')
    assert [(key, bytes(raw)) for key, raw in view.items()] == [("b", b"1e400"), ("a", b"[1, 2]")]


@pytest.mark.parametrize(
    "bad", [b"", b"[]", b"null", b"{", b'{"a":}', b"[" * 100_000, b'{"a":' * 5000]
)
def test_what_is_no_object_is_bad_json(bad: bytes) -> None:
    with pytest.raises(BadJson):
        fields(bad)


@pytest.mark.parametrize("bad", [b"", b"[", b"NaN", b"Infinity", b"[" * 100_000, b'"\xff"'])
def test_what_is_no_json_is_bad_json(bad: bytes) -> None:
    with pytest.raises(BadJson):
        decode(bad)


def test_lone_surrogates_survive() -> None:
    value = decode(b'{"t":"\\ud83d","n":1}')
    assert value == {"t": "\ud83d", "n": 1}
    assert encode({"v": value, "r": msgspec.Raw(b"[1]")}) == b'{"v":{"t":"\\ud83d","n":1},"r":[1]}'


@given(ANY_JSON)
def test_what_is_encoded_decodes(value: Any) -> None:
    assert decode(encode(value)) == value


def test_what_a_model_wrote_is_read_with_halves_of_emoji_and_broken_bytes() -> None:
    data = readable(b'{"t":"\\ud83d \xff","n":[1]}')
    view = upstream_fields(data)
    assert decode(view["t"]) == "\ud83d \ufffd"
    assert bytes(view["n"]) == b"[1]"
    for bad in (b'["\\ud83d"]', b"{", b'{"a":NaN}'):
        with pytest.raises(BadJson):
            upstream_fields(bad)
