"""Answers to and from the neutral form."""

import json
from typing import Any

from tests.formats.openai_chat.streams import chunk, context
from zurelay.chat.events import (
    Choice,
    Event,
    RefusalDelta,
    Reply,
    Stopped,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
    UsageSeen,
)
from zurelay.chat.parts import RefusalText, Text, Thinking, ToolCall
from zurelay.chat.usage import Usage
from zurelay.formats.openai_chat.hub import ChatBack, ChatEvents, ChatEventWriter, ChatHubFront

EVENTS: list[Event] = [
    ThinkingStarted(),
    ThinkingDelta("hm"),
    ThinkingSigned("SIG", "v"),
    ThinkingSigned("ENC", "v", redacted=True),
    TextDelta("Hel"),
    TextDelta("lo"),
    TextDelta("other", 1),
    RefusalDelta("no"),
    ToolCallStarted(0, "c", "f"),
    ToolCallDelta(0, "{}"),
    UsageSeen(Usage(1, output=2)),
    Stopped("tool_calls"),
    Stopped("stop", 1),
]


def test_what_the_writer_writes_the_reader_reads() -> None:
    raw = ChatEventWriter(context()).write(EVENTS)
    read = ChatEvents(context(choices=2)).read(raw)
    untold = (ThinkingStarted, UsageSeen)
    assert read.events == [event for event in EVENTS if not isinstance(event, untold)]
    assert read.alive
    assert read.fault is None


def test_a_choice_begins_with_its_role() -> None:
    raw = ChatEventWriter(context()).write([TextDelta("a"), TextDelta("b"), TextDelta("c", 1)])
    deltas = [json.loads(part[6:])["choices"][0]["delta"] for part in raw.split(b"\n\n")[:-1]]
    assert [delta.get("role") for delta in deltas] == ["assistant", None, "assistant"]


def test_usage_is_told_when_it_changes() -> None:
    reader = ChatEvents(context())
    first = chunk({"content": "a"}, usage={"prompt_tokens": 1, "completion_tokens": 1})
    assert UsageSeen(Usage(1, output=1)) in reader.read(first).events
    assert not any(isinstance(e, UsageSeen) for e in reader.read(first).events)


def test_plain_answers_go_both_ways() -> None:
    parts = (Thinking("hm", "SIG", "v"), Text("A"), RefusalText("no"), ToolCall("c", "f", "{}"))
    reply = Reply((Choice(parts, "tool_calls"), Choice((Text("B"),), "length")), Usage(5, output=2))
    body = ChatHubFront().reply(reply, Usage(5, output=2), context())
    told: Any = json.loads(body)
    assert told["choices"][0]["message"]["reasoning_content"] == "hm"
    assert ChatBack().reply(body, context()) == reply
