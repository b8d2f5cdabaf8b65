"""What the parts of `make real` share: the question, the transcript, a look at the request log."""

import time
from typing import Any

from openai import NotFoundError, OpenAI

QUESTION = "Write two sentences about the sea."


class Transcript:
    """What was said, and whether it was as it must be."""

    def __init__(self) -> None:
        self.misses = 0

    def title(self, text: str) -> None:
        """A new part."""
        print(f"\n== {text}", flush=True)

    def must(self, holds: bool, text: str) -> None:
        """Something that has to be true."""
        self.misses += not holds
        print(f"   {'ok  ' if holds else 'MISS'} {text}", flush=True)


def logged(client: OpenAI, request_id: str) -> dict[str, Any]:
    """The gateway's own entry for a request, once it is settled."""
    deadline = time.monotonic() + 5
    while True:
        try:
            entry = client.get(f"/requests/{request_id}", cast_to=dict[str, Any])
        except NotFoundError:
            entry = {"status": "running"}
        if entry["status"] != "running" or time.monotonic() > deadline:
            return entry
        time.sleep(0.1)
