import asyncio

import pytest

from zurelay.cli.talking import Endpoint, Piece, answer, base_url, first_model
from zurelay.cli.terminal import Failed
from zurelay.upstream.client import HttpClient

HELLO = [{"role": "user", "content": "Hello there"}]


async def pieces(url: str, model: str, effort: str | None = None) -> list[Piece]:
    async with HttpClient() as client:
        return [one async for one in answer(client, Endpoint(url, "k"), model, HELLO, effort)]


def text(found: list[Piece], kind: str) -> str:
    return "".join(one.text for one in found if one.kind == kind)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("https://ai.example.com/v1/", "https://ai.example.com/v1"),
        (" localhost:8000 ", "http://localhost:8000/v1"),
    ],
)
def test_the_base_url_is_meant_with_its_version(written: str, meant: str) -> None:
    assert base_url(written) == meant


async def test_an_answer_comes_in_pieces(sandbox: str) -> None:
    found = await pieces(sandbox, "sandbox/echo")
    assert "Hello there" in text(found, "content")


async def test_thinking_is_told_apart(sandbox: str) -> None:
    found = await pieces(sandbox, "sandbox/reasoning")
    assert text(found, "reasoning")
    assert text(found, "content")
    assert found[0].kind == "reasoning"


async def test_a_refusal_is_part_of_the_answer(sandbox: str) -> None:
    assert text(await pieces(sandbox, "sandbox/refusal"), "refusal")


async def test_an_error_is_told_in_the_gateways_words(sandbox: str) -> None:
    with pytest.raises(Failed, match="sandbox"):
        await pieces(sandbox, "sandbox/error?status=503")


@pytest.mark.parametrize("model", ["sandbox/cut?after=2", "sandbox/error?status=503&after=2"])
async def test_an_answer_that_breaks_off_is_a_failure(model: str, sandbox: str) -> None:
    with pytest.raises(Failed):
        await pieces(sandbox, model)


async def test_a_gateway_that_is_not_there_is_named(dead_port: int) -> None:
    url = f"http://127.0.0.1:{dead_port}/v1"
    with pytest.raises(Failed, match=f"no gateway answers at {url}.*zurelay serve"):
        await pieces(url, "m")
    async with HttpClient() as client:
        with pytest.raises(Failed, match="no gateway answers"):
            await first_model(client, Endpoint(url, "k"))


async def test_the_first_model_is_the_default(sandbox: str) -> None:
    async with HttpClient() as client:
        assert await first_model(client, Endpoint(sandbox, "k")) == "sandbox/echo"


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (200, b"<html>hello", "is no gateway"),
        (200, b'{"data": []}', "no model"),
        (404, b"<html>", "status 404"),
        (401, b'{"error": {"message": "The API key is unknown here."}}', "unknown here"),
    ],
)
async def test_an_address_that_is_no_gateway_says_so(status: int, body: bytes, says: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n" % (status, len(body)) + body)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, HttpClient() as client:
        with pytest.raises(Failed, match=says):
            await first_model(client, Endpoint(f"http://127.0.0.1:{port}/v1", "k"))


def test_a_key_stays_out_of_the_repr() -> None:
    assert "zk-1" not in repr(Endpoint("http://h/v1", "zk-1"))
