"""The provider of the cluster test: always well, so that every fault is the gateway's own."""

import random

from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import Pause, Script, json_reply, sse_reply
from zurelay.testing.upstream import Request

MOST_PIECES = 24


class Provider:
    """Answers chats and embeddings; how long they are is drawn from a seed.

    Args:
        seed: of what is drawn.
        pace: seconds between two events.
    """

    def __init__(self, seed: int, pace: float) -> None:
        self._rng = random.Random(f"provider {seed}")
        self._pace = pace
        self.requests = 0

    def answer(self, request: Request) -> Script:
        """The script for a request."""
        self.requests += 1
        if request.path.endswith("/embeddings"):
            return json_reply(_vector())
        if request.path.endswith("/models"):
            return json_reply({"object": "list", "data": []})
        pieces = [f"<{self.requests}>"] * self._rng.randint(2, MOST_PIECES)
        # One in eight tells no usage: what it costs is estimated.
        usage = chat_usage(9, len(pieces)) if self._rng.random() < 0.875 else None
        if request.json.get("stream"):
            return sse_reply(chat_chunks(pieces, usage=usage), self._pace)
        reply = chat_reply("".join(pieces), usage=usage)
        if usage is None:
            del reply["usage"]
        return [Pause(self._pace * len(pieces)), *json_reply(reply)]


def _vector() -> dict[str, object]:
    item = {"object": "embedding", "index": 0, "embedding": [0.5, -1e-05]}
    usage = {"prompt_tokens": 2, "total_tokens": 2}
    return {"object": "list", "data": [item], "model": "theirs", "usage": usage}
