import asyncio
from typing import Annotated

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType, field
from starlette.requests import Request

from zurelay.admin.reading import MAX_BODY, no_nul, read_body, read_query
from zurelay.chat.problems import Problem, Refused


class Budget(Struct, forbid_unknown_fields=True):
    usd: Annotated[str, Meta(pattern="^[0-9]+$")]


class Form(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1)]
    rpm: Annotated[int, Meta(ge=1)] | UnsetType | None = UNSET
    budget: Budget | None = None
    models: list[str] | None = None


class Query(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=9)] = 5
    model: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    open: bool | None = None


def body(*parts: bytes, length: int | None = None) -> Form:
    told = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    told.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, object]:
        return told.pop(0)

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "method": "POST", "headers": headers}
    return asyncio.run(read_body(Request(scope, receive), Form))


def refused(content: bytes) -> Problem:
    with pytest.raises(Refused) as found:
        body(content)
    return found.value.problem


def refused_query(query: bytes) -> Problem:
    with pytest.raises(Refused) as found:
        read_query(query, Query)
    return found.value.problem


def test_a_body_is_read_into_its_form() -> None:
    assert body(b'{"name": "a", ', b'"rpm": null}') == Form("a", None)
    assert body(b'{"name": "a", "budget": {"usd": "5"}}').budget == Budget("5")
    assert body(b'{"name": "a", "rpm": 5.0}').rpm == 5


@pytest.mark.parametrize(
    ("content", "param", "says"),
    [
        (b'{"name": "a", "rmp": 1}', "rmp", 'Did you mean "rpm"?'),
        (b'{"name": "a", "budget": {"usd": "1", "us": 1}}', "budget.us", 'Did you mean "usd"?'),
        (b"{}", "name", "Missing"),
        (b'{"name": "a", "budget": {}}', "budget.usd", "Missing"),
        (b'{"name": ""}', "name", "length >= 1"),
        (b'{"name": 5}', "name", "expected `str`"),
        (b'{"name": "a", "rpm": "1"}', "rpm", "int"),
        (b'{"name": "a", "rpm": 0}', "rpm", ">= 1"),
        (b'{"name": "a", "rpm": 1.5}', "rpm", "int"),
        (b'{"name": "a", "rpm": 1e300}', "rpm", "int"),
        (b'{"name": "a", "budget": {"usd": "x"}}', "budget.usd", "regex"),
        (b'{"name": "a", "models": ["b", 1]}', "models[1]", "str"),
        (b'{"name": "a\\u0000"}', "name", "NUL"),
        (b'{"name": "a", "models": ["\\u0000"]}', "models[0]", "NUL"),
    ],
)
def test_every_fault_names_its_field(content: bytes, param: str, says: str) -> None:
    problem = refused(content)
    assert (problem.status, problem.param) == (400, param)
    assert says in problem.message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x",
        b"[]",
        b'"a"',
        b"null",
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_json_object_is_refused(content: bytes) -> None:
    assert (refused(content).status, refused(content).code) == (400, "invalid_json")


def test_a_body_beyond_its_bound_is_refused_before_and_while_it_comes() -> None:
    for content, length in ((b"", MAX_BODY + 1), (b" " * (MAX_BODY + 1), None)):
        with pytest.raises(Refused) as found:
            body(content, length=length)
        assert found.value.problem.status == 413


def test_a_query_is_read_with_its_pairs() -> None:
    assert read_query(b"", Query) == Query()
    found = read_query(b"limit=7&model=a%2Fb&metadata[team]=docs&metadata%5Benv%5D=p", Query)
    assert found == Query(7, "a/b", {"team": "docs", "env": "p"})


@pytest.mark.parametrize(
    ("query", "param"),
    [
        (b"limt=5", "limt"),
        (b"limit=0", "limit"),
        (b"limit=x", "limit"),
        (b"limit=1&limit=2", "limit"),
        (b"metadata[a]=1&metadata[a]=2", "metadata[a]"),
        (b"metadata=1", "metadata"),
        (b"model[a]=1", "model[a]"),
        (b"model=%00", "model"),
        (b"model=%ff", "query"),
        (b"a=1&" * 200, "query"),
        (b"\xff", "query"),
        (b"open=null", "open"),
        (b"open=", "open"),
    ],
)
def test_a_faulty_query_is_told_by_name(query: bytes, param: str) -> None:
    problem = refused_query(query)
    assert (problem.status, problem.param) == (400, param)
    assert "limit" in refused_query(b"limt=5").message


def test_nothing_is_called_by_a_nul() -> None:
    no_nul(["a", "b"])
    with pytest.raises(Refused):
        no_nul(["a", "b\0"])
