"""Configurations for stories of streams and routes, and a caller that sees each write by itself."""

import json
from typing import Any

from tests.api.wire import Caller as Wire
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.upstream import ScriptedUpstream

NAMES = ("first", "second", "third")


def configuration(
    *upstreams: ScriptedUpstream,
    server: str = "",
    streaming: str = "",
    routing: str = "",
    models: str = "",
) -> str:
    """`test-model` with a route to each upstream in that order; `other-model` at the last alone."""
    used = list(zip(NAMES, upstreams, strict=False))
    providers = "".join(
        f'[providers.{name}]\nkind = "groq"\nbase_url = "{upstream.base_url}"\n'
        f'api_key = "SECRET-{name}"\ncatalogue = false\n'
        for name, upstream in used
    )
    routes = ", ".join(
        f'{{ provider = "{name}", model = "upstream-{name}", priority = {number} }}'
        for number, (name, _) in enumerate(used, 1)
    )
    last = used[-1][0]
    facts = 'context = 100000\nprice = { input = "1.00", output = "5.00" }\n'
    return (
        f"[server]\nexpose_routes = false\n{server}\n[streaming]\n{streaming}\n"
        f"[routing]\n{routing}\n[sandbox]\nenabled = false\n{providers}"
        f'[models."test-model"]\nroutes = [{routes}]\n{facts}'
        f'[models."other-model"]\nroutes = ["{last}"]\n{facts}{models}'
    )


class Reader:
    """A stream as it arrives: its head, then each write of the gateway, one after another."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.status = 0
        self.headers: dict[str, str] = {}

    @classmethod
    async def ask(
        cls, gateway: RunningGateway, *headers: str, stream: bool = True, **fields: Any
    ) -> "Reader":
        body = json.dumps(
            {
                "model": "test-model",
                "messages": [{"role": "user", "content": "Hi"}],
                "stream": stream,
                **fields,
            }
        ).encode()
        lines = [
            "POST /v1/chat/completions HTTP/1.1",
            "host: x",
            f"authorization: Bearer {gateway.key}",
            f"content-length: {len(body)}",
            *headers,
        ]
        wire = await Wire.to(gateway.process.port)
        wire.write("\r\n".join([*lines, "", ""]).encode() + body)
        return cls(wire)

    async def head(self) -> None:
        self.status = int((await self._wire.line()).split(b" ")[1])
        while (line := await self._wire.line()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            self.headers[name] = value.strip()

    async def write(self) -> bytes:
        """What the gateway wrote next; empty at the end."""
        if not self.status:
            await self.head()
        size = int(await self._wire.line() or b"0", 16)
        data = await self._wire.reader.readexactly(size)
        await self._wire.line()
        return data

    async def writes(self) -> list[bytes]:
        """All that is still to come."""
        found = []
        while data := await self.write():
            found.append(data)
        return found

    async def byte(self) -> bytes:
        return await self._wire.reader.read(1)

    async def leave(self) -> None:
        await self._wire.close()


def text_of(stream: bytes) -> str:
    """What the model said in a stream of events."""
    said = ""
    for block in stream.decode().split("\n\n"):
        for line in block.split("\n"):
            if line.startswith("data: {"):
                for choice in json.loads(line[6:]).get("choices", ()):
                    said += choice["delta"].get("content") or ""
    return said


def error_of(stream: bytes) -> dict[str, Any]:
    """The error event a stream ended with."""
    last = stream.rstrip(b"\n").rsplit(b"\n\n", 1)[-1].rsplit(b"\n", 1)[-1]
    assert last.startswith(b'data: {"error"'), last
    error: dict[str, Any] = json.loads(last[6:])["error"]
    return error
