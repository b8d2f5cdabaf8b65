"""What tests of programs that talk to language models need: a scripted upstream, answers, a clock.

Shipped and public: `docs/testing.md` shows how to use it.
"""

from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply, chat_usage
from zurelay.testing.clock import ManualClock
from zurelay.testing.script import (
    LAST_CHUNK,
    Close,
    Pause,
    Reset,
    Script,
    Send,
    Stall,
    Step,
    byte_by_byte,
    chunk,
    cut,
    gzip_reply,
    head,
    json_reply,
    reply,
    sse_event,
    sse_reply,
    wire,
)
from zurelay.testing.upstream import Answer, Request, ScriptedUpstream

__all__ = [
    "LAST_CHUNK",
    "Answer",
    "Close",
    "ManualClock",
    "Pause",
    "Request",
    "Reset",
    "Script",
    "ScriptedUpstream",
    "Send",
    "Stall",
    "Step",
    "byte_by_byte",
    "chat_chunk",
    "chat_chunks",
    "chat_reply",
    "chat_usage",
    "chunk",
    "cut",
    "gzip_reply",
    "head",
    "json_reply",
    "reply",
    "sse_event",
    "sse_reply",
    "wire",
]
