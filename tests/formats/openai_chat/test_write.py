"""Chunks as callers get them."""

import json

from tests.formats.openai_chat.streams import DONE, context
from zurelay.chat.usage import Usage
from zurelay.formats.openai_chat.write import ChunkWriter, kept


def test_an_event_is_ours_first_and_then_the_rest() -> None:
    raw = ChunkWriter(context()).event({"choices": [], "x": 1})
    assert raw.startswith(b'data: {"id":"chatcmpl-ours","object":"chat.completion.chunk"')
    assert raw.endswith(b"\n\n")
    assert json.loads(raw[6:])["x"] == 1


def test_what_providers_say_about_themselves_is_not_kept() -> None:
    theirs = {
        "id": 1,
        "model": 1,
        "usage": 1,
        "provider": 1,
        "x_groq": 1,
        "timings": 1,
        "system_fingerprint": 1,
    }
    assert kept(theirs) == {"system_fingerprint": 1}


def test_the_end_mark_is_always_last() -> None:
    writer = ChunkWriter(context())
    assert writer.finale(None, b"") == DONE
    assert writer.finale(Usage(1), b": c\n\n").endswith(b"}\n\n: c\n\n" + DONE)
