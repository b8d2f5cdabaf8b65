"""Callers of a gateway in trouble, and what each of them saw.

A caller asks for a stream, a plain answer, or a stream it leaves early, over and over. What it saw
is judged by what was promised: no failure before the first token, one answer only, an end that
says whether it is whole.
"""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient

PIECE = re.compile(r"<(\d+)>")
MOST_WRONG = 20


@dataclass(slots=True)
class Seen:
    """What all callers saw.

    Attributes:
        ends: how requests ended -> how often.
        tags: of every request sent, by which its log row is found.
        first_tokens: seconds.
        lag: seconds by which this process, callers and upstreams, was late at worst.
        wrong: what must not be, in words.
    """

    ends: Counter[str] = field(default_factory=Counter)
    tags: set[str] = field(default_factory=set)
    first_tokens: list[float] = field(default_factory=list)
    lag: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        """Something that must not be."""
        if len(self.wrong) < MOST_WRONG:
            self.wrong.append(what)


class Caller:
    """One caller of many."""

    def __init__(
        self,
        number: int,
        client: HttpClient,
        origin: str,
        key: str,
        models: list[str],
        seen: Seen,
        rng: random.Random,
    ) -> None:
        self._number = number
        self._client = client
        self._url = f"{origin}/v1/chat/completions"
        self._key = key
        self._models = models
        self._seen = seen
        self._rng = rng
        self._count = 0

    async def ask_until(self, over: Callable[[], bool]) -> None:
        """One request after another."""
        while not over():
            kind = self._rng.choices(["stream", "plain", "leave"], [80, 12, 8])[0]
            self._count += 1
            tag = f"{self._number}-{self._count}"
            self._seen.tags.add(tag)
            try:
                if kind == "plain":
                    await self._plain(tag)
                else:
                    await self._stream(tag, leave=kind == "leave")
            except UpstreamError as error:
                self._seen.ends["no answer"] += 1
                self._seen.note(f"{tag}: {kind}: the gateway broke off: {error}")

    def _call(self, tag: str, *, stream: bool) -> Call:
        body = {
            "model": self._rng.choice(self._models),
            "messages": [{"role": "user", "content": f"question {self._number}-{self._count % 7}"}],
            "stream": stream,
        }
        return Call(
            "POST",
            self._url,
            (
                ("authorization", f"Bearer {self._key}"),
                ("content-type", "application/json"),
                ("x-client-request-id", tag),
            ),
            json.dumps(body).encode(),
        )

    async def _plain(self, tag: str) -> None:
        answer = await self._client.fetch(self._call(tag, stream=False))
        if answer.status != 200:
            self._seen.ends[f"plain: {answer.status}"] += 1
            self._seen.note(f"{tag}: plain: {answer.status} {answer.body[:600]!r}")
            return
        self._seen.ends["plain: whole"] += 1
        text = json.loads(answer.body)["choices"][0]["message"]["content"]
        self._judge(tag, text)

    async def _stream(self, tag: str, *, leave: bool) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with self._client.stream(self._call(tag, stream=True)) as stream:
            body = b""
            token = False
            async for data in stream:
                body += data
                if not token and b"<" in body:
                    token = True
                    self._seen.first_tokens.append(loop.time() - began)
                    if leave:
                        self._seen.ends["stream: left"] += 1
                        return
            status = stream.status
        if status != 200:
            self._seen.ends[f"stream: {status}"] += 1
            self._seen.note(f"{tag}: stream: {status} {body[:600]!r}")
            return
        self._judge_stream(tag, body)

    def _judge_stream(self, tag: str, body: bytes) -> None:
        text, error, done = "", None, False
        for block in body.decode().split("\n\n"):
            if not block.startswith("data: "):
                continue
            if block == "data: [DONE]":
                done = True
                continue
            event = json.loads(block.removeprefix("data: "))
            error = event.get("error", error)
            for choice in event.get("choices", ()):
                text += choice["delta"].get("content") or ""
        if error is not None:
            self._seen.ends["stream: broke off after tokens" if text else "stream: failed"] += 1
            if done:
                self._seen.note(f"{tag}: [DONE] after an error")
            if not text:
                self._seen.note(f"{tag}: a failure before the first token: {error}")
                return
        elif done:
            self._seen.ends["stream: whole"] += 1
        else:
            self._seen.note(f"{tag}: neither [DONE] nor an error: {body[-200:]!r}")
        self._judge(tag, text)

    def _judge(self, tag: str, text: str) -> None:
        numbers = set(PIECE.findall(text))
        if len(numbers) > 1:
            self._seen.note(f"{tag}: two answers in one: {text[:200]}")
        if text != "".join(f"<{number}>" for number in PIECE.findall(text)):
            self._seen.note(f"{tag}: mangled: {text[:200]}")
        if not text:
            self._seen.note(f"{tag}: an answer without text")
