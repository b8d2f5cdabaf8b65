"""A fast scripted upstream: OpenAI chat answers, plain and streaming, from bytes made once.

It is a process of its own, so that its work is never counted as a gateway's. What it answers is
set by a call to `/script`, because a model's name does not survive every gateway unchanged. It
does not know who calls it, validates nothing and speaks no TLS.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import httptools
import uvloop

MODEL = "gpt-4o-mini"
CREATED = 1_780_000_000
GOLDEN = 0.618_033_988_75


@dataclass(frozen=True, slots=True)
class Script:
    """What the next streams look like.

    Attributes:
        events: content events of a stream, after its role chunk.
        interval: seconds between them; 0 sends all in one write.
        spread: whether each stream starts at its own point of the interval, so that many streams
            do not tick together.
    """

    events: int = 8
    interval: float = 0.0
    spread: bool = True


def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    """One chunk of a stream with all the fields a hosted provider sends, about 300 bytes."""
    body = {
        "id": "chatcmpl-C1aBcD2eFgH3iJkL4mNoP5qRsT6u",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": f"{MODEL}-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_560af6e559",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        "usage": None,
        "obfuscation": "k3J9sQ",
    }
    return event(json.dumps(body, separators=(",", ":")).encode())


def event(data: bytes) -> bytes:
    """`data` as one server-sent event in one HTTP chunk."""
    framed = b"data: " + data + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(framed), framed)


def answer(status: str, body: bytes, kind: str = "application/json") -> bytes:
    """A whole HTTP answer."""
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode() + body


USAGE = {
    "prompt_tokens": 21,
    "completion_tokens": 24,
    "total_tokens": 45,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
}
PLAIN = answer(
    "200 OK",
    json.dumps(
        {
            "id": "chatcmpl-C1aBcD2eFgH3iJkL4mNoP5qRsT6u",
            "object": "chat.completion",
            "created": CREATED,
            "model": f"{MODEL}-2024-07-18",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "The quick brown fox jumps over the lazy dog. " * 4,
                        "refusal": None,
                        "annotations": [],
                    },
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": USAGE,
            "service_tier": "default",
            "system_fingerprint": "fp_560af6e559",
        },
        separators=(",", ":"),
    ).encode(),
)
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
ROLE = chunk({"role": "assistant", "content": ""})
CONTENT = chunk({"content": " brown fox"})
END = (
    chunk({}, "stop")
    + event(
        json.dumps(
            {
                "id": "chatcmpl-C1aBcD2eFgH3iJkL4mNoP5qRsT6u",
                "object": "chat.completion.chunk",
                "created": CREATED,
                "model": f"{MODEL}-2024-07-18",
                "choices": [],
                "usage": USAGE,
            },
            separators=(",", ":"),
        ).encode()
    )
    + event(b"[DONE]")
    + b"0\r\n\r\n"
)
MODELS = answer(
    "200 OK",
    json.dumps(
        {
            "object": "list",
            "data": [
                {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "scripted"},
            ],
        }
    ).encode(),
)


class Stage:
    """The script in force and what was answered under it, shared by all connections."""

    def __init__(self) -> None:
        self.script = Script()
        self.answers = 0

    def change(self, query: str) -> bytes:
        """Take a new script from a query string; the answer tells script and answers so far."""
        if query:
            asked = dict(parse_qsl(query))
            self.script = Script(
                events=int(asked["events"]),
                interval=float(asked["interval"]),
                spread=asked["spread"] == "1",
            )
        told = asdict(self.script) | {"answers": self.answers}
        return answer("200 OK", json.dumps(told).encode())


class Connection(asyncio.Protocol):
    """One caller's connection: keep-alive, one request at a time."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None
        self._url = b""
        self._body: list[bytes] = []
        self._left = 0
        self._interval = 0.0
        self._full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, _exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._transport.abort()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        url, body = self._url, b"".join(self._body)
        self._url, self._body = b"", []
        if url.endswith(b"/chat/completions"):
            self._stage.answers += 1
            if b'"stream":true' in body or b'"stream": true' in body:
                self._stream(self._stage.script)
            else:
                self._transport.write(PLAIN)
        elif url.endswith(b"/models"):
            self._transport.write(MODELS)
        elif url.startswith(b"/script"):
            self._transport.write(self._stage.change(urlsplit(url.decode()).query))
        else:
            self._transport.write(answer("404 Not Found", b"{}"))

    def _stream(self, script: Script) -> None:
        if not script.interval:
            self._transport.write(STREAM_HEAD + ROLE + CONTENT * script.events + END)
            return
        self._left, self._interval = script.events, script.interval
        self._transport.write(STREAM_HEAD + ROLE + CONTENT)
        share = (self._stage.answers * GOLDEN) % 1 if script.spread else 1
        self._timer = asyncio.get_running_loop().call_later(share * script.interval, self._tick)

    def _tick(self) -> None:
        if self._left <= 0:
            self._transport.write(END)
            return
        if not self._full:
            self._left -= 1
            self._transport.write(CONTENT)
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._tick)


async def start(port: int = 0) -> asyncio.Server:
    """Listen on a loopback port; 0 takes a free one."""
    stage = Stage()
    return await asyncio.get_running_loop().create_server(
        lambda: Connection(stage), "127.0.0.1", port, backlog=4096
    )


async def serve(port: int) -> None:
    """Serve for ever; prints the port once it listens."""
    server = await start(port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the upstream as a process: `python -m bench.upstream --port 9000`."""
    parser = argparse.ArgumentParser(prog="bench.upstream", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    uvloop.run(serve(parser.parse_args(arguments).port))


if __name__ == "__main__":
    main()
