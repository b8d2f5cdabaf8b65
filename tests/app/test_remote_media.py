"""Pictures by URL through the whole gateway: fetched once, given inline, refused alike."""

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, Start, until
from tests.app.gateways import configuration
from zurelay.app import parts
from zurelay.testing.chat import chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Stall, json_reply, reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient
from zurelay.upstream.download import Downloader

PNG = b"\x89PNG\r\n\x1a\n"
INLINE = "data:image/png;base64,iVBORw0KGgo="


def _images(*urls: str) -> list[Any]:
    content = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [{"role": "user", "content": content}]


@pytest.fixture
async def site() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
async def caller(
    tmp_path: Any,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    site: ScriptedUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Caller]:
    """Of a gateway with two routes, whose downloader may reach the test's own site."""
    port = int(site.base_url.rpartition(":")[2])
    own = partial(Downloader, ports=(port,), floor=0.0, allowed=lambda a: a == "127.0.0.1")
    monkeypatch.setattr(parts, "Downloader", own)
    async with (
        RunningGateway(tmp_path, configuration(upstream, second)) as gateway,
        HttpClient() as client,
    ):
        yield Caller(gateway, client)


def _sent(upstream: ScriptedUpstream, request: int = 0) -> list[str]:
    content = upstream.requests[request].json["messages"][0]["content"]
    return [part["image_url"]["url"] for part in content]


async def test_a_server_of_ones_own_is_given_the_content_never_the_url(
    caller: Caller, upstream: ScriptedUpstream, site: ScriptedUpstream
) -> None:
    site.enqueue(reply(PNG))
    upstream.enqueue(json_reply(chat_reply("A cat")))
    url = f"{site.base_url}/a.png"
    answer = await caller.chat(messages=_images(url, url, INLINE))
    assert answer.status == 200, answer.body
    assert _sent(upstream) == [INLINE] * 3
    assert len(site.requests) == 1
    assert {"cookie", "authorization", "x-api-key"}.isdisjoint(site.requests[0].headers)


async def test_a_second_route_does_not_fetch_again(
    caller: Caller, upstream: ScriptedUpstream, second: ScriptedUpstream, site: ScriptedUpstream
) -> None:
    site.enqueue(reply(PNG))
    upstream.enqueue(json_reply({}, 500))
    second.enqueue(json_reply(chat_reply("A cat")))
    answer = await caller.chat(messages=_images(f"{site.base_url}/a.png"))
    assert answer.status == 200, answer.body
    assert _sent(second) == [INLINE]
    assert len(site.requests) == 1


def _told(answer: Answer) -> dict[str, Any]:
    error: dict[str, Any] = answer.json["error"]
    return error


@pytest.mark.parametrize("stream", [False, True])
async def test_all_refusals_look_alike(
    caller: Caller,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    site: ScriptedUpstream,
    stream: bool,
) -> None:
    site.enqueue(reply(b"no", 404), reply(b"<html>"), reply(b"", 302, {"location": "http://[::1]"}))
    answers = [
        await caller.chat(messages=_images(INLINE, url), stream=stream)
        for url in (
            *(f"{site.base_url}/{n}" for n in range(3)),
            "http://169.254.169.254/latest/meta-data/",
            f"http://user@127.0.0.1:{site.base_url.rpartition(':')[2]}/",
            upstream.base_url,
        )
    ]
    assert {answer.status for answer in answers} == {400}
    first = _told(answers[0])
    assert first["code"] == "unsupported_content"
    assert first["param"] == "messages[0].content[1]"
    assert all(_told(answer) == first for answer in answers)
    assert upstream.connections == second.connections == 0
    row = await caller.logged(answers[0])
    assert (row["status"], row["http_status"], row["cost_usd"]) == ("error", 400, "0")


async def test_without_a_url_nothing_is_fetched(
    caller: Caller, upstream: ScriptedUpstream, site: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply(chat_reply("A cat")))
    assert (await caller.chat(messages=_images(INLINE))).status == 200
    assert site.connections == 0


async def test_a_caller_who_leaves_ends_the_download(
    caller: Caller, site: ScriptedUpstream, upstream: ScriptedUpstream, ask: Any
) -> None:
    site.enqueue([Stall()])
    reader = await ask(caller, messages=_images(f"{site.base_url}/a.png"))
    await until(lambda: site.requests)
    await reader.leave()
    await until(lambda: site.left)
    assert upstream.connections == 0


def _messages(*blocks: Any) -> bytes:
    turn = {"role": "user", "content": list(blocks)}
    return json.dumps({"model": "test-model", "max_tokens": 50, "messages": [turn]}).encode()


async def test_pictures_of_messages_callers_are_fetched_too(
    caller: Caller, upstream: ScriptedUpstream, site: ScriptedUpstream
) -> None:
    site.enqueue(reply(PNG))
    upstream.enqueue(json_reply(chat_reply("A cat")))
    block = {"type": "image", "source": {"type": "url", "url": f"{site.base_url}/a.png"}}
    answer = await caller.send("POST", "/v1/messages", _messages(block), caller.gateway.headers)
    assert answer.status == 200, answer.body
    assert _sent(upstream) == [INLINE]


async def test_pictures_of_responses_callers_are_fetched_too(
    caller: Caller, upstream: ScriptedUpstream, site: ScriptedUpstream
) -> None:
    def body(url: str) -> bytes:
        part = {"type": "input_image", "image_url": url}
        said = [{"role": "user", "content": [part]}]
        return json.dumps({"model": "test-model", "input": said}).encode()

    site.enqueue(reply(PNG))
    upstream.enqueue(json_reply(chat_reply("A cat")))
    headers = caller.gateway.headers
    answer = await caller.send("POST", "/v1/responses", body(f"{site.base_url}/a"), headers)
    assert answer.status == 200, answer.body
    assert _sent(upstream) == [INLINE]
    refused = await caller.send("POST", "/v1/responses", body("http://[::1]/a"), headers)
    assert (refused.status, _told(refused)["code"]) == (400, "unsupported_content")
    assert _told(refused)["param"] == "input[0].content[0]"


async def test_refusals_have_the_shape_of_the_endpoint(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    block = {"type": "image", "source": {"type": "url", "url": "http://169.254.169.254/latest"}}
    answer = await caller.send("POST", "/v1/messages", _messages(block), caller.gateway.headers)
    assert answer.status == 400
    assert answer.json["type"] == "error"
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert "messages[0].content[0]" in answer.json["error"]["message"]
    assert upstream.connections == 0


async def test_a_count_gives_no_url_to_a_server_of_ones_own(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(
        f'[providers.own]\nkind = "anthropic"\nbase_url = "{upstream.base_url}"\napi_key = "k"\n'
        'catalogue = false\n[models."test-model"]\nroutes = ["own"]\n'
    )
    blocks = (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image", "source": {"type": "url", "url": "http://10.0.0.1/a.png"}},
    )
    for block in blocks:
        upstream.enqueue(json_reply({"input_tokens": 5}))
        path = "/v1/messages/count_tokens"
        answer = await caller.send("POST", path, _messages(block), caller.gateway.headers)
        assert answer.status == 200
    assert len(upstream.requests) == 1
