"""A stream of the same format run to its end, and the events upstreams write."""

import json
from typing import Any

from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext, Progress
from zurelay.formats.openai_chat.stream import RelayStream


def context(**changes: Any) -> AnswerContext:
    base: dict[str, Any] = {
        "answer_id": "chatcmpl-ours",
        "created": 5,
        "model": "public",
        "include_usage": True,
        "prompt_estimate": 10,
        "profile": Profile(),
    }
    return AnswerContext(**{**base, **changes})


def chunk(delta: Any, finish: Any = None, index: int = 0, **more: Any) -> bytes:
    body = {
        "id": "theirs",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "secret-upstream",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
        **more,
    }
    return event(body)


def event(body: Any) -> bytes:
    return (
        b"data: " + json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"
    )


DONE = b"data: [DONE]\n\n"


class Ran:
    """What a stream came to."""

    def __init__(self, pieces: list[bytes], ctx: AnswerContext, splice: bool = True) -> None:
        self.stream = RelayStream(ctx)
        if not splice:
            self.stream._lessons = 0
        self.steps: list[Progress] = []
        for piece in pieces:
            self.steps.append(self.stream.feed(piece))
            if self.steps[-1].fault or self.steps[-1].ended:
                break
        if not (self.steps and (self.steps[-1].fault or self.steps[-1].ended)):
            self.steps.append(self.stream.end())
        self.out = b"".join(step.out for step in self.steps)
        self.fault = self.steps[-1].fault
        self.finished = sum(step.finished for step in self.steps)
        self.token = any(step.token for step in self.steps)

    @property
    def chunks(self) -> list[Any]:
        parts = self.out.split(b"\n\n")
        assert parts.pop() == b""
        return [json.loads(part.removeprefix(b"data: ")) for part in parts]

    def joined(self, name: str, index: int = 0) -> str:
        return "".join(
            choice["delta"].get(name) or ""
            for each in self.chunks
            for choice in each["choices"]
            if choice["index"] == index
        )

    @property
    def reasons(self) -> list[str]:
        found = [c["finish_reason"] for each in self.chunks for c in each["choices"]]
        return [reason for reason in found if reason]

    @property
    def calls(self) -> dict[int, list[str]]:
        calls: dict[int, list[str]] = {}
        for each in self.chunks:
            for choice in each["choices"]:
                for call in choice["delta"].get("tool_calls") or ():
                    if "id" in call:
                        assert call["index"] not in calls
                        assert call["type"] == "function"
                        calls[call["index"]] = [call["id"], call["function"]["name"], ""]
                    calls[call["index"]][2] += call["function"]["arguments"]
        return calls


def run(*pieces: bytes, splice: bool = True, **changes: Any) -> Ran:
    return Ran(list(pieces), context(**changes), splice)
