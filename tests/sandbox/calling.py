"""Calls of the sandbox as a function, and what came, put together as a client would."""

import json
from typing import Any

from zurelay.sandbox.base import Answer, Identity
from zurelay.sandbox.service import answer

WHO = Identity("abc", 1_795_000_000)
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def call(path: str, body: dict[str, Any]) -> Answer:
    """A POST with a JSON body."""
    return answer("POST", path, json.dumps(body).encode(), WHO)


def whole(told: Answer) -> Any:
    """A plain answer that came in one piece."""
    (step,) = told.steps
    return json.loads(step.data)


def frames(told: Answer) -> list[tuple[str, Any]]:
    """Name and data of each event of a stream."""
    assert dict(told.headers)["content-type"].startswith("text/event-stream")
    raw = b"".join(step.data for step in told.steps).replace(b"\r\n", b"\n").decode()
    found = []
    for frame in raw.removesuffix("\n\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.split("\n"))
        found.append((lines.get("event", ""), json.loads(lines["data"])))
    return found
