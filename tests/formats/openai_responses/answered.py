"""Requests and answers of callers of this format, for its tests; a reader as strict as may be."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from zurelay.chat.problems import Problem, Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext, Inbound
from zurelay.formats.openai_responses.front import ResponsesFront

Json = dict[str, Any]

FUNCTION: Json = {"type": "function", "name": "f", "parameters": {"type": "object"}}
CUSTOM: Json = {"type": "custom", "name": "patch"}
_ENDS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_PREFIX = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
}


def read(**fields: Any) -> Inbound:
    """A request that is good."""
    return ResponsesFront().read(json.dumps({"model": "m", "input": "Hi", **fields}).encode())


def refused(**fields: Any) -> Problem:
    """What is told of a request that is not."""
    with pytest.raises(Refused) as caught:
        read(**fields)
    return caught.value.problem


def context(**asked: Any) -> AnswerContext:
    """The context of an answer to such a request."""
    return AnswerContext(
        answer_id="resp_1",
        created=1_700_000_000,
        model="public-model",
        include_usage=True,
        prompt_estimate=10,
        profile=Profile(realm="openai"),
        asked=read(**asked).body,
    )


def events(stream: bytes) -> list[Json]:
    """The events of a stream; each says its own name in its data."""
    found = []
    for block in stream.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        name, data = lines
        event: Json = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


@dataclass
class LifeCycle:
    """Follows a stream by its rules; asserts that each event may come now.

    Attributes:
        items: whole items by place.
        response: the object of the last event.
        ended: its status.
    """

    items: dict[int, Json] = field(default_factory=dict)
    response: Json = field(default_factory=dict)
    ended: str = ""
    _count: int = 0
    _open: dict[int, Json] = field(default_factory=dict)
    _parts: dict[int, list[Json]] = field(default_factory=dict)
    _part: dict[int, Json] = field(default_factory=dict)
    _said: dict[int, str] = field(default_factory=dict)
    _done: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, stream: bytes) -> "LifeCycle":
        cycle = cls()
        for event in events(stream):
            cycle.take(event)
        return cycle

    def take(self, event: Json) -> None:
        assert not self.ended
        assert event["sequence_number"] == self._count
        self._count += 1
        kind: str = event["type"]
        if self._count <= 2:
            assert kind == ("response.created", "response.in_progress")[self._count - 1]
            assert (event["response"]["status"], event["response"]["output"]) == ("in_progress", [])
        elif kind in _ENDS:
            self._end(event, _ENDS[kind])
        elif kind == "response.output_item.added":
            self._added(event["output_index"], event["item"])
        elif kind == "response.output_item.done":
            self._item_done(event["output_index"], event["item"])
        else:
            self._inside(kind.removeprefix("response."), event)

    def _end(self, event: Json, status: str) -> None:
        self.response, self.ended = event["response"], status
        assert self.response["status"] == status
        if status != "failed":
            assert not self._open
            assert self.response["output"] == [self.items[i] for i in range(len(self.items))]
            assert self.response["usage"]["total_tokens"] >= 0
            assert self.response["error"] is None
        else:
            assert self.response["error"]["message"]
        assert (self.response["incomplete_details"] is None) == (status != "incomplete")

    def _added(self, place: int, item: Json) -> None:
        assert place == len(self.items) + len(self._open)
        assert item["id"].startswith(_PREFIX[item["type"]])
        assert not (item.get("content") or item.get("arguments") or item.get("input"))
        self._open[place] = item
        self._parts[place], self._said[place] = [], ""

    def _item_done(self, place: int, item: Json) -> None:
        added = self._open.pop(place)
        assert (item["id"], item["type"]) == (added["id"], added["type"])
        assert place not in self._part
        if item["type"] == "message":
            assert item["content"] == self._parts[place]
            assert item["content"]
        elif item["type"] == "reasoning":
            assert item["summary"] == self._parts[place]
            assert item["summary"] or item.get("encrypted_content")
        else:
            assert place in self._done
            assert item.get("arguments", item.get("input")) == self._said[place]
        self.items[place] = item

    def _inside(self, kind: str, event: Json) -> None:
        place = event["output_index"]
        item = self._open[place]
        assert event["item_id"] == item["id"]
        at = event.get("content_index", event.get("summary_index"))
        if at is not None:
            assert at == len(self._parts[place])
        if kind in ("content_part.added", "reasoning_summary_part.added"):
            assert place not in self._part
            self._part[place], self._said[place] = event["part"], ""
        elif kind in ("content_part.done", "reasoning_summary_part.done"):
            part = event["part"]
            assert part["type"] == self._part.pop(place)["type"]
            assert part.get("text", part.get("refusal")) == self._said[place]
            assert place in self._done
            self._done.discard(place)
            self._parts[place].append(part)
        elif kind.endswith(".delta"):
            assert event["delta"]
            assert place not in self._done
            self._belongs(kind.removesuffix(".delta"), place, item)
            self._said[place] += event["delta"]
        else:
            self._belongs(kind.removesuffix(".done"), place, item)
            name = {"refusal": "refusal", "function_call_arguments": "arguments"}
            name["custom_tool_call_input"] = "input"
            assert event[name.get(kind.removesuffix(".done"), "text")] == self._said[place]
            self._done.add(place)

    def _belongs(self, kind: str, place: int, item: Json) -> None:
        right = {
            "output_text": ("message", "output_text"),
            "refusal": ("message", "refusal"),
            "reasoning_summary_text": ("reasoning", "summary_text"),
            "function_call_arguments": ("function_call", None),
            "custom_tool_call_input": ("custom_tool_call", None),
        }[kind]
        part = self._part[place]["type"] if place in self._part else None
        assert (item["type"], part) == right
