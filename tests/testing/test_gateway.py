"""A whole gateway for tests: it answers, takes a new configuration, and leaves nothing behind."""

import asyncio
import json
from pathlib import Path

from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient


async def models(gateway: RunningGateway) -> list[str]:
    async with HttpClient() as client:
        call = Call("GET", f"{gateway.base_url}/v1/models", tuple(gateway.headers.items()), b"")
        response = await client.fetch(call)
    return [model["id"] for model in json.loads(response.body)["data"]]


async def test_it_serves_what_its_configuration_says_and_takes_another(tmp_path: Path) -> None:
    async with RunningGateway(tmp_path) as gateway:
        assert "sandbox/echo" in await models(gateway)
        await gateway.reload(
            '[sandbox]\nenabled = false\n[providers.g]\nkind = "groq"\napi_key = "k"\n'
            'catalogue = false\n[models.m]\nroutes = ["g"]\n'
        )
        assert await models(gateway) == ["m"]


async def test_nothing_runs_on_when_it_ends(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    async with RunningGateway(tmp_path, environ={"NAME": "value"}) as gateway:
        port = gateway.process.port
    assert asyncio.all_tasks() == before
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return
    writer.close()
    raise AssertionError("it still listens")
