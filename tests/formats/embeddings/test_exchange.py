"""Vectors come through untouched, under our model and count."""

import json
from typing import Any

import pytest

from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext
from zurelay.formats.embeddings.exchange import Embeddings


def context(choices: int = 1) -> AnswerContext:
    return AnswerContext("embd-1", 1, "public", False, 9, Profile(), choices=choices)


def answer(count: int = 1, **fields: Any) -> dict[str, Any]:
    data = [{"object": "embedding", "index": n, "embedding": [0.5]} for n in range(count)]
    return {"object": "list", "data": data, "model": "theirs", **fields}


def test_vectors_keep_every_digit() -> None:
    raw = b' {"data": [{"embedding": [0.10, -1e-05, 1.0000000000000000001]}], "model": "x"} '
    whole = Embeddings().whole(raw, context())
    assert b'[{"embedding": [0.10, -1e-05, 1.0000000000000000001]}]' in whole.body
    assert json.loads(whole.body)["model"] == "public"
    assert json.loads(whole.body)["object"] == "list"


def test_the_providers_count_is_billed() -> None:
    used = {"prompt_tokens": 12, "total_tokens": 12}
    whole = Embeddings().whole(json.dumps(answer(usage=used)).encode(), context())
    assert whole.usage == Usage(input=12)
    assert json.loads(whole.body)["usage"] == used


def test_without_a_count_the_estimate_is() -> None:
    whole = Embeddings().whole(json.dumps(answer()).encode(), context())
    assert whole.usage == Usage(input=9, estimated=True)


def test_private_fields_of_providers_are_left_out() -> None:
    whole = Embeddings().whole(
        json.dumps(answer(provider="p", cost=1, id="own")).encode(), context()
    )
    assert set(json.loads(whole.body)) == {"object", "data", "model", "usage"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"data": 1}',
        b'{"data": [{}]}',
        b'{"data": [1]}',
        json.dumps(answer(2)).encode(),
        json.dumps(answer(0)).encode(),
    ],
)
def test_anything_but_one_vector_for_each_text_is_a_broken_answer(body: bytes) -> None:
    fault = Embeddings().whole(body, context()).fault
    assert fault is not None
    assert fault.kind is FaultKind.BAD_ANSWER
