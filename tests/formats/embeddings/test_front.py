"""Requests for embeddings: what is taken, and what is said of anything else."""

import json
from typing import Any

import pytest

from zurelay.chat.estimate import measure, prompt_tokens
from zurelay.chat.problems import Problem, Refused
from zurelay.formats.base import Inbound
from zurelay.formats.embeddings.front import EmbeddingsFront


def read(**fields: Any) -> Inbound:
    body = {"model": "m", "input": "text", **fields}
    return EmbeddingsFront().read(json.dumps(body).encode())


def refused(**fields: Any) -> Problem:
    with pytest.raises(Refused) as caught:
        read(**fields)
    return caught.value.problem


@pytest.mark.parametrize(
    ("value", "count", "length"),
    [
        ("text", 1, measure(["text"])),
        (["a", "bc"], 2, measure(["a", "bc"])),
        ([1, 2, 3], 1, 12),
        ([[1, 2], [3]], 2, 12),
    ],
)
def test_each_kind_of_input_is_counted(value: Any, count: int, length: int) -> None:
    inbound = read(input=value)
    assert (inbound.choices, inbound.text_length) == (count, length)
    assert (inbound.mode, inbound.stream, inbound.max_output) == ("embeddings", False, 0)


def test_tokens_are_estimated_as_so_many_tokens() -> None:
    tokens = list(range(1000))
    assert prompt_tokens(read(input=tokens).text_length) - prompt_tokens(0) == len(tokens)


def test_nothing_else_answers_for_the_model() -> None:
    assert read().alternatives == ()


def test_what_stays_here_is_kept() -> None:
    inbound = read(user="u", metadata={"a": "b"}, safety_identifier="s")
    assert (inbound.user, inbound.metadata, inbound.safety_identifier) == ("u", {"a": "b"}, "s")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"model": ""}, "model"),
        ({"model": 3}, "model"),
        ({"input": None}, "input"),
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": {}}, "input"),
        ({"input": 7}, "input"),
        ({"input": ["a", 1]}, "input"),
        ({"input": [True]}, "input"),
        ({"input": [1.5]}, "input"),
        ({"input": [-1]}, "input"),
        ({"input": ["a", ""]}, "input[1]"),
        ({"input": [[1], []]}, "input[1]"),
        ({"input": ["a"] * 2049}, "input[2048]"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": "many"}, "dimensions"),
        ({"encoding_format": "int8"}, "encoding_format"),
        ({"stream": True}, "stream"),
        ({"user": "x" * 257}, "user"),
        ({"metadata": {"a": "x" * 513}}, "metadata"),
    ],
)
def test_each_fault_names_its_field(fields: dict[str, Any], param: str) -> None:
    problem = refused(**fields)
    assert (problem.status, problem.param) == (400, param)
    assert problem.code in {"invalid_value", "missing_required_parameter"}


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": "m", "input": "\xff"}'])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as caught:
        EmbeddingsFront().read(body)
    assert caught.value.problem.code == "invalid_json"


def test_the_most_texts_are_taken() -> None:
    assert read(input=["a"] * 2048).choices == 2048


def test_problems_have_openais_shape() -> None:
    front = EmbeddingsFront()
    status, body = front.problem_body(refused(input=""), "req_1")
    assert status == 400
    assert json.loads(body)["error"]["param"] == "input"
    assert front.problem_event(refused(input=""), "req_1") == b"data: " + body + b"\n\n"
