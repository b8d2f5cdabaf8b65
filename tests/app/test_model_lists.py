"""Servers that tell their own models are asked, and keep what is known while they are silent."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from zurelay.app.model_lists import ask_all
from zurelay.providers.base import Kind, Provider
from zurelay.testing.script import Close, json_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

KIND = Kind("vllm", "vLLM", "openai_chat", "", lists_models=True)


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient() as own:
        yield own


def provider(upstream: ScriptedUpstream) -> Provider:
    return Provider("local", KIND, f"{upstream.base_url}/v1", ("secret",))


async def test_a_list_is_asked_for_with_the_providers_key(
    client: HttpClient, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply({"object": "list", "data": [{"id": "a"}, {"id": "b", "x": 1}]}))
    assert await ask_all(client, [provider(upstream)], {}) == {"local": ("a", "b")}
    [request] = upstream.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/models", "Bearer secret")


@pytest.mark.parametrize("known", [{}, {"local": ("old",)}])
@pytest.mark.parametrize(
    "answer", [json_reply({}, 500), json_reply({"data": 7}), json_reply([]), [Close()]]
)
async def test_one_that_does_not_tell_keeps_what_is_known(
    client: HttpClient, upstream: ScriptedUpstream, answer: list[object], known: dict[str, object]
) -> None:
    upstream.enqueue(answer)  # type: ignore[arg-type]
    found = await ask_all(client, [provider(upstream)], known)  # type: ignore[arg-type]
    assert found == {"local": known.get("local", ())}


async def test_kinds_with_a_catalogue_are_not_asked(
    client: HttpClient, upstream: ScriptedUpstream
) -> None:
    silent = replace(provider(upstream), kind=replace(KIND, lists_models=False))
    assert await ask_all(client, [silent], {"local": ("old",)}) == {}
    assert upstream.requests == []
