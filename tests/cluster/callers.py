"""Callers of a cluster in motion, and what each request of theirs came to.

A caller asks for one thing after the other: streams and plain answers on every endpoint, streams
it leaves early, requests that it repeats under the same Idempotency-Key.
"""

import asyncio
import contextlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient

Kind = Literal["open", "prepaid", "budget", "limited"]
End = Literal["whole", "refused", "left", "broke off", "failed"]

MOST_OUTPUT = 40
"""Tokens that each request may have answered; some answers are longer, and cost more than that."""
PATIENCE_S = 4.0

_WHOLE = {
    "chat": b"data: [DONE]\n\n",
    "messages": b"event: message_stop\n",
    "responses": b"event: response.completed\n",
}


@dataclass(slots=True)
class Asked:
    """A request and what it came to.

    Attributes:
        tag: the caller's own id of it.
        began: by the loop's clock; so is `ended`.
        id: of the log entry, as the answer said.
        end: whole; refused with `status`; left by the caller; broke off: the connection did;
            failed: an error event came.
        token: something of an answer had arrived.
        key: its Idempotency-Key.
    """

    tag: str
    kind: Kind
    what: str
    began: float
    ended: float = 0.0
    id: str = ""
    end: End = "broke off"
    status: int = 0
    token: bool = False
    told: str = ""
    key: str = ""


@dataclass(slots=True)
class Customer:
    """Whose key a caller shows."""

    kind: Kind
    key: str
    account: str


@dataclass(slots=True)
class Caller:
    """One caller of many."""

    number: int
    client: HttpClient
    origin: str
    customer: Customer
    asked: list[Asked]
    rng: random.Random
    count: int = field(default=0)

    async def ask_until(self, over: Callable[[], bool]) -> None:
        """One request after another."""
        while not over():
            match self.rng.choices(["stream", "plain", "leave", "vector", "repeat"],
                                   [45, 25, 10, 10, 10])[0]:  # fmt: skip
                case "stream":
                    await self.chat(self.rng.choice(list(_WHOLE)), stream=True)
                case "plain":
                    await self.chat(self.rng.choice(list(_WHOLE)), stream=False)
                case "leave":
                    await self.chat(self.rng.choice(list(_WHOLE)), stream=True, leave=True)
                case "vector":
                    await self._ask("/v1/embeddings", {"model": "vectors", "input": "some words"})
                case _:
                    await self._repeat()
            if self.asked[-1].end == "refused":
                await asyncio.sleep(self.rng.uniform(0.05, 0.2))

    async def chat(
        self,
        what: str,
        *,
        stream: bool,
        leave: bool = False,
        key: str = "",
        words: str = "",
    ) -> Asked:
        """One answer of a model; `what` says by which format."""
        words = words or f"question {self.number}-{self.count % 7}"
        body: dict[str, Any] = {"model": "chat", "stream": stream}
        if what == "responses":
            body |= {"input": words, "max_output_tokens": MOST_OUTPUT}
            path = "/v1/responses"
        else:
            body |= {"messages": [{"role": "user", "content": words}], "max_tokens": MOST_OUTPUT}
            path = "/v1/messages" if what == "messages" else "/v1/chat/completions"
        return await self._ask(
            path, body, end=_WHOLE[what] if stream else b"", leave=leave, key=key
        )

    async def _repeat(self) -> None:
        """The same again under one Idempotency-Key, after the first or beside it."""
        key = words = f"repeated-{self.number}-{self.count}"
        what = self.rng.choice(["chat", "messages"])
        first = asyncio.create_task(self.chat(what, stream=False, key=key, words=words))
        if self.rng.random() < 0.5:
            await first
        else:
            await asyncio.sleep(self.rng.uniform(0.001, 0.05))
        # The key of a node that was killed is free after 15 s: nobody here waits for so long.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await self.chat(what, stream=False, key=key, words=words)
        await first

    async def _ask(
        self,
        path: str,
        body: dict[str, Any],
        *,
        end: bytes = b"",
        leave: bool = False,
        key: str = "",
    ) -> Asked:
        """Send it and see it through. `end` is how a whole stream ends; empty for a plain answer."""
        loop = asyncio.get_running_loop()
        self.count += 1
        tag = f"{self.number}-{self.count}"
        asked = Asked(tag, self.customer.kind, path, loop.time(), key=key)
        self.asked.append(asked)
        headers = [
            ("authorization", f"Bearer {self.customer.key}"),
            ("content-type", "application/json"),
            ("x-client-request-id", tag),
        ]
        if key:
            headers.append(("idempotency-key", key))
        call = Call("POST", f"{self.origin}{path}", tuple(headers), json.dumps(body).encode())
        try:
            async with self.client.stream(call) as stream:
                asked.id = stream.headers.get("x-request-id", "")
                asked.status = stream.status
                data = b""
                async for piece in stream:
                    data += piece
                    asked.token = asked.token or b"<" in data
                    if leave and asked.token:
                        asked.end = "left"
                        return asked
            asked.end = _judged(stream.status, data, end)
            if asked.end != "whole":
                asked.told = data[-400:].decode(errors="replace")
        except UpstreamError as error:
            asked.told = str(error)
        except asyncio.CancelledError:
            asked.end = "left"
            raise
        finally:
            asked.ended = loop.time()
        return asked


def _judged(status: int, data: bytes, end: bytes) -> End:
    if status != 200:
        return "refused"
    if not end or end in data:
        return "whole"
    return "failed" if b'"error"' in data else "broke off"
