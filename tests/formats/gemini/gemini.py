"""Pieces of answers as this format writes them, and a stream run to its end."""

import json
from collections.abc import Iterable
from typing import Any

from zurelay.chat.events import Event
from zurelay.chat.faults import Fault
from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext
from zurelay.formats.gemini.stream import event_stream

PLACEHOLDER = "c2tpcA=="
STUDIO = Profile(
    realm="google-ai-studio", effort_form="gemini_level", reasoning_placeholder=PLACEHOLDER
)
ORIGIN = "google-ai-studio/gemini"


def context(**changes: Any) -> AnswerContext:
    base: dict[str, Any] = {
        "answer_id": "chatcmpl-ours",
        "created": 5,
        "model": "public",
        "include_usage": True,
        "prompt_estimate": 10,
        "profile": STUDIO,
    }
    return AnswerContext(**{**base, **changes})


def piece(*parts: Any, finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": index, "content": {"role": "model", "parts": parts}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def frame(body: Any) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\r\n\r\n"


class Ran:
    """What a stream came to."""

    def __init__(self, chunks: Iterable[bytes], **changes: Any) -> None:
        self.reader = event_stream(context(**changes))
        self.events: list[Event] = []
        self.fault: Fault | None = None
        for chunk in chunks:
            batch = self.reader.read(chunk)
            self.events += batch.events
            self.fault = self.fault or batch.fault
            if self.fault:
                return
        last = self.reader.close()
        self.events += last.events
        self.fault = last.fault
        self.ended = last.ended


def run(*pieces: Any, **changes: Any) -> Ran:
    return Ran([frame(each) for each in pieces], **changes)
