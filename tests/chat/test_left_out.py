"""Files are noted, all else stays as it was, and JSON stays JSON."""

import base64
import json
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.left_out import SHORTEST, without_files

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40).decode()
SIZE = 256 * 40 + 8


def changed(value: object) -> Any:
    return json.loads(without_files(json.dumps(value).encode()))


def test_a_data_url_becomes_its_kind_and_size() -> None:
    assert changed({"url": f"data:image/png;base64,{PNG}"}) == {
        "url": f"[image/png, {SIZE} bytes, not kept]"
    }


def test_a_string_of_base64_is_told_by_how_it_begins() -> None:
    assert changed({"data": PNG})["data"] == f"[image/png, {SIZE} bytes, not kept]"
    other = base64.b64encode(b"\0" * 3000).decode()
    assert changed([other]) == ["[data, 3000 bytes, not kept]"]


def test_a_data_url_inside_of_a_text_leaves_the_text() -> None:
    text = f"See ![it](data:image/png;name=a.png;base64,{PNG}) and ![{{}}](data:a/b;base64,{PNG})."
    noted = changed({"text": text})["text"]
    assert noted == (
        f"See ![it]([image/png, {SIZE} bytes, not kept]) and ![{{}}]([a/b, {SIZE} bytes, not kept])."
    )


def test_slashes_may_be_escaped() -> None:
    body = json.dumps({"url": f"data:image/png;base64,{PNG}"}).replace("/", "\\/").encode()
    assert json.loads(without_files(body)) == {"url": f"[image/png, {SIZE} bytes, not kept]"}


def test_long_texts_and_short_files_stay() -> None:
    for value in (
        {"text": "word " * 2000},
        {"text": "é" * 5000},
        {"text": f"data:image/png;base64,{PNG[:40]} " * 100},
        {"data": PNG[: SHORTEST - 4]},
        {"embedding": [0.25, 1e-7]},
    ):
        assert changed(value) == value


def test_vectors_become_how_long_they_were() -> None:
    vector = [0.123456789 * n for n in range(1024)]
    found = changed({"data": [{"embedding": vector, "index": 0}, {"embedding": vector}]})
    assert [one["embedding"] for one in found["data"]] == ["[1024 numbers, not kept]"] * 2


def test_what_was_cut_off_or_is_a_stream_is_noted_too() -> None:
    event = b'data: {"b64_json":"' + PNG.encode() + b'"}\n\n'
    assert (
        without_files(event) == b'data: {"b64_json":"[image/png, %d bytes, not kept]"}\n\n' % SIZE
    )
    cut = b'{"data":"' + PNG.encode()[:-100]
    assert without_files(cut).startswith(b'{"data":"[image/png, ')
    assert len(without_files(cut)) < 100


def test_fifty_megabytes_take_little_time() -> None:
    body = json.dumps({"a": "A" * 50_000_000, "b": 'x" ' * 100_000}).encode()
    started = time.process_time()
    assert len(without_files(body)) < 1_000_000
    assert time.process_time() - started < 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    JSON,
    st.text(max_size=30),
    st.text(max_size=30),
    st.binary(min_size=SHORTEST, max_size=SHORTEST + 500),
    st.booleans(),
)
def test_json_around_a_file_stays_what_it_was(
    around: object, before: str, after: str, file: bytes, ascii_only: bool
) -> None:
    digits = base64.b64encode(file).decode()
    value = [around, digits, {"text": f"{before} data:x/y;base64,{digits} {after}"}, around]
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = json.loads(without_files(body))
    assert found[0] == around
    assert found[3] == around
    assert found[1].endswith(f" {len(file)} bytes, not kept]")
    assert found[2] == {"text": f"{before} [x/y, {len(file)} bytes, not kept] {after}"}
    assert digits.encode() not in without_files(body)


@given(JSON)
def test_without_files_nothing_changes(value: object) -> None:
    body = json.dumps(value).encode()
    assert without_files(body) == body
