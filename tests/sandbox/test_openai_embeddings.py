"""Vectors of the sandbox: their shapes, and what they are close to."""

import base64
import json
import struct
from math import isclose, sqrt
from typing import Any

import pytest

from zurelay.chat.problems import Refused
from zurelay.sandbox.base import Answer, Identity
from zurelay.sandbox.openai_embeddings import embeddings, vector
from zurelay.sandbox.service import answer

WHO = Identity("s1", 1_795_000_000)


def ask(**fields: Any) -> dict[str, Any]:
    body = {"model": "sandbox/embedding", "input": "Hello there", **fields}
    told: dict[str, Any] = json.loads(embeddings(json.dumps(body).encode()))
    return told


def body_of(told: Answer) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"".join(step.data for step in told.steps))
    return found


def likeness(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(vector(one, 256), vector(other, 256), strict=True))


def test_each_text_has_a_vector_in_its_place() -> None:
    told = ask(input=["a", "b", "a"])
    assert [item["index"] for item in told["data"]] == [0, 1, 2]
    first, second, third = (item["embedding"] for item in told["data"])
    assert first == third != second
    assert told["usage"] == {"prompt_tokens": 3, "total_tokens": 3}


@pytest.mark.parametrize("text", ["a", "Hello there, gateway.", "日本語", "   "])
def test_vectors_have_length_one(text: str) -> None:
    assert isclose(sqrt(sum(value**2 for value in vector(text, 256))), 1.0, abs_tol=1e-4)


def test_texts_that_share_words_lie_closer_than_others() -> None:
    asked = "how do I reset my password"
    near = likeness(asked, "reset your password here")
    far = likeness(asked, "bananas grow in warm countries")
    assert near > 0.4
    assert far < 0.25


def test_dimensions_and_encoding_are_heeded() -> None:
    plain = ask(dimensions=16)["data"][0]["embedding"]
    packed = ask(dimensions=16, encoding_format="base64")["data"][0]["embedding"]
    assert len(plain) == 16
    assert struct.unpack("<16f", base64.b64decode(packed)) == pytest.approx(plain)


@pytest.mark.parametrize(("given", "count"), [([1, 2, 3], 1), ([[1, 2], [3]], 2)])
def test_tokens_are_taken_too(given: list[Any], count: int) -> None:
    assert len(ask(input=given)["data"]) == count


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": None}, "input"),
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": ["a", ""]}, "input"),
        ({"input": [1, "a"]}, "input"),
        ({"input": {"a": 1}}, "input"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": 4000}, "dimensions"),
        ({"model": "sandbox/echo"}, "model"),
        ({"model": "sandbox/embedding?first=3"}, "model"),
        ({"model": None}, "model"),
    ],
)
def test_bad_requests_are_refused_at_their_field(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(Refused) as refused:
        ask(**fields)
    assert refused.value.problem.param == param


def test_the_service_answers_and_refuses() -> None:
    body = json.dumps({"model": "embedding", "input": "Hello"}).encode()
    told = answer("POST", "/v1/embeddings", body, WHO)
    assert (told.status, body_of(told)["model"]) == (200, "embedding")
    assert answer("POST", "/v1/embeddings", b"{}", WHO).status == 404
    assert answer("GET", "/v1/embeddings", b"", WHO).status == 405


def test_it_gives_no_answers() -> None:
    body = {"model": "sandbox/embedding", "messages": [{"role": "user", "content": "Hi"}]}
    told = answer("POST", "/v1/chat/completions", json.dumps(body).encode(), WHO)
    assert (told.status, body_of(told)["error"]["param"]) == (400, "model")
