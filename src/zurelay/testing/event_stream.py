"""Answers in the binary event stream of AWS services, for scripted upstreams.

Pure. Does not know what the events say.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

from zurelay.testing.script import LAST_CHUNK, Script, chunk, head

CONTENT_TYPE = "application/vnd.amazon.eventstream"


def event_stream_message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message with text headers."""
    packed = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(packed) + len(payload), len(packed))
    start = prelude + struct.pack(">I", crc32(prelude)) + packed + payload
    return start + struct.pack(">I", crc32(start))


def event_stream_event(name: str, content: Mapping[str, Any]) -> bytes:
    """An event with a JSON payload."""
    headers = {
        ":event-type": name,
        ":content-type": "application/json",
        ":message-type": "event",
    }
    return event_stream_message(headers, json.dumps(content).encode())


def event_stream_exception(name: str, message: str) -> bytes:
    """An exception in the middle of a stream, such as `throttlingException`."""
    headers = {
        ":exception-type": name,
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    return event_stream_message(headers, json.dumps({"message": message}).encode())


def event_stream_reply(
    messages: Iterable[bytes], headers: Mapping[str, str] | None = None
) -> Script:
    """A chunked stream of messages, one chunk each."""
    fields = {"content-type": CONTENT_TYPE, "transfer-encoding": "chunked", **(headers or {})}
    return [head(200, fields), *map(chunk, messages), LAST_CHUNK]


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack(">B", len(key)) + key + struct.pack(">BH", 7, len(text)) + text
