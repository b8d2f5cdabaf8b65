"""A whole gateway in front of a scripted upstream, and a caller."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.app.gateways import Reader
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient

CONFIG = """
[server]
expose_routes = false

[providers.first]
kind = "groq"
base_url = "{upstream}"
api_key = "SECRET-1234"
catalogue = false

[models."test-model"]
routes = [{{ provider = "first", model = "upstream-name" }}]
context = 100000
max_output = 5000
input = ["text", "image"]
price = {{ input = "1.00", cached_input = "0.10", output = "5.00" }}
"""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[str]:
        """Blocks of the stream, comments included."""
        return [block for block in self.body.decode().split("\n\n") if block]

    @property
    def chunks(self) -> list[dict[str, Any]]:
        datas = [e.removeprefix("data: ") for e in self.events if e.startswith("data: ")]
        return [json.loads(d) for d in datas if d != "[DONE]"]

    @property
    def text(self) -> str:
        """What the model said, joined."""
        deltas = [c["delta"] for chunk in self.chunks for c in chunk.get("choices", ())]
        return "".join(delta.get("content") or "" for delta in deltas)


class Caller:
    """Asks the gateway as a client would."""

    def __init__(self, gateway: RunningGateway, client: HttpClient) -> None:
        self.gateway = gateway
        self.client = client

    async def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        call = Call(
            method=method,
            url=self.gateway.base_url + path,
            headers=tuple((self.gateway.headers if headers is None else headers).items()),
            body=body,
        )
        response = await self.client.fetch(call)
        return Answer(response.status, response.headers, response.body)

    async def chat(self, headers: Mapping[str, str] | None = None, **fields: Any) -> Answer:
        body = {"model": "test-model", "messages": [{"role": "user", "content": "Hi"}], **fields}
        extra = {**self.gateway.headers, **(headers or {}), "content-type": "application/json"}
        return await self.send("POST", "/v1/chat/completions", json.dumps(body).encode(), extra)

    async def get(self, path: str) -> Answer:
        return await self.send("GET", path)

    async def logged(self, answer: Answer) -> Any:
        """The log entry of an answered request."""
        return (await self.get(f"/v1/requests/{answer.headers['x-request-id']}")).json


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
def config(upstream: ScriptedUpstream) -> str:
    return CONFIG.format(upstream=upstream.base_url)


@pytest.fixture
async def gateway(tmp_path: Path, config: str) -> AsyncIterator[RunningGateway]:
    async with RunningGateway(tmp_path, config) as running:
        yield running


@pytest.fixture
async def caller(gateway: RunningGateway) -> AsyncIterator[Caller]:
    client = HttpClient()
    yield Caller(gateway, client)
    await client.aclose()


Start = Callable[[str], Awaitable[Caller]]


@pytest.fixture
async def start(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Start]:
    """Starts a gateway with a configuration of the test's own; gives its caller."""
    if "store_url" in request.fixturenames:
        request.getfixturevalue("store_url")  # so that the gateway is closed before its database
    async with contextlib.AsyncExitStack() as stack:

        async def begin(config: str) -> Caller:
            gateway = await stack.enter_async_context(RunningGateway(tmp_path, config))
            client = await stack.enter_async_context(HttpClient())
            return Caller(gateway, client)

        yield begin


Ask = Callable[..., Awaitable[Reader]]


@pytest.fixture
async def ask() -> AsyncIterator[Ask]:
    """Asks a gateway on a connection of its own, see `Reader.ask`; closes it in the end."""
    readers: list[Reader] = []

    async def begin(caller: Caller, *headers: str, **fields: Any) -> Reader:
        readers.append(await Reader.ask(caller.gateway, *headers, **fields))
        return readers[-1]

    yield begin
    for reader in readers:
        await reader.leave()


@pytest.fixture
async def second() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


async def until(true: Any) -> None:
    """Let the loop run until something holds; the test's own timeout bounds it."""
    while not true():
        await asyncio.sleep(0)
