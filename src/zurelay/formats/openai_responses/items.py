"""One answer's output items, as neutral events: deltas as they come, the rest from whole items.

Whatever was already told by deltas is not told again by the whole item. Knows no frames.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zurelay.chat.events import (
    Event,
    RefusalDelta,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingStarted,
    ToolCallDelta,
    ToolCallStarted,
)

Json = dict[str, Any]

BETWEEN = "\n\n"
"""Stands between parts of thinking, which have titles of their own."""

_TYPES = frozenset({"message", "reasoning", "function_call"})


@dataclass(slots=True)
class _Item:
    """An item under way.

    Attributes:
        told: kinds of content that were told: text, refusal, summary, thinking, arguments.
        parts: parts of thinking that were told, by kind and place.
        held: arguments that came before the call's name.
        call: its number among the calls, -1 before it was told.
    """

    told: set[str] = field(default_factory=set)
    parts: set[tuple[str, int]] = field(default_factory=set)
    held: str = ""
    call: int = -1
    done: bool = False


class ItemReader:
    """Reads the items of one answer.

    Attributes:
        calls: tool calls told so far.
        any: something was told.
    """

    def __init__(self, origin: str, mint: Callable[[int], str]) -> None:
        self._origin = origin
        self._mint = mint
        self._items: dict[object, _Item] = {}
        self._last: _Item | None = None
        self._ids: set[str] = set()
        self._thought: tuple[_Item, int] | None = None  # where the last thinking stood
        self._loose = _Item()
        self.calls = 0
        self.any = False

    def added(self, event: Json) -> list[Event]:
        """An item began. Its content may still be partial, and is not read."""
        item, raw = self._item(event), _object(event.get("item"))
        self._last = item
        kind = raw.get("type")
        if kind == "reasoning":
            return [ThinkingStarted()]
        if kind == "function_call":
            return self._open(item, raw)
        return []

    def text(self, event: Json, kind: str) -> list[Event]:
        """More text or refusal."""
        piece = _word(event.get("delta"))
        return self._say(self._item(event), kind, piece) if piece else []

    def thinking(self, event: Json, kind: str) -> list[Event]:
        """More thinking; of summary and full text only the one that came first is told."""
        piece = _word(event.get("delta"))
        return self._think(self._item(event), kind, _place(event, kind), piece) if piece else []

    def arguments(self, event: Json) -> list[Event]:
        """More arguments of a call."""
        item, piece = self._item(event), _word(event.get("delta"))
        if not piece:
            return []
        item.told.add("arguments")
        if item.call < 0:
            item.held += piece
            return []
        return [ToolCallDelta(item.call, piece)]

    def part_done(self, event: Json, kind: str) -> list[Event]:
        """A part is whole: told if no delta of it came."""
        item = self._item(event)
        whole = {**event, "delta": event.get("refusal" if kind == "refusal" else "text")}
        if kind in ("summary", "thinking"):
            told = (kind, _place(event, kind)) in item.parts
            return [] if told else self.thinking(whole, kind)
        return [] if kind in item.told else self.text(whole, kind)

    def arguments_done(self, event: Json) -> list[Event]:
        """The arguments are whole: told if no delta came."""
        item = self._item(event)
        out: list[Event] = []
        if item.call < 0 and _word(event.get("name")):
            out += self._open(item, event)
        return out + self._rest_of_call(item, event)

    def done(self, event: Json) -> list[Event]:
        """An item is whole."""
        item, raw = self._item(event), _object(event.get("item"))
        kind = raw.get("type")
        if item.done or kind not in _TYPES:
            return []
        item.done = True
        if kind == "message":
            return self._message(item, raw)
        if kind == "reasoning":
            return self._reasoning(item, raw)
        return self._open(item, raw) + self._rest_of_call(item, raw)

    def _item(self, event: Json) -> _Item:
        """By place; by id where a host leaves the place out; else the one that began last."""
        key = event.get("output_index")
        if not isinstance(key, int) or isinstance(key, bool):
            key = event.get("item_id") or _object(event.get("item")).get("id")
        if not isinstance(key, int | str):
            return self._last or self._loose
        return self._items.setdefault(key, _Item())

    def _open(self, item: _Item, raw: Json) -> list[Event]:
        name = _word(raw.get("name"))
        if item.call >= 0 or not name:
            return []
        item.call = self.calls
        self.calls += 1
        self.any = True
        call_id = _word(raw.get("call_id"))
        if not call_id or call_id in self._ids:
            call_id = self._mint(item.call)
        self._ids.add(call_id)
        out: list[Event] = [ToolCallStarted(item.call, call_id, name)]
        if item.held:
            out.append(ToolCallDelta(item.call, item.held))
        return out

    def _rest_of_call(self, item: _Item, raw: Json) -> list[Event]:
        whole = _word(raw.get("arguments"))
        if item.call < 0 or not whole or "arguments" in item.told:
            return []
        item.told.add("arguments")
        return [ToolCallDelta(item.call, whole)]

    def _message(self, item: _Item, raw: Json) -> list[Event]:
        told = item.told | self._loose.told
        out: list[Event] = []
        for part in _objects(raw.get("content")):
            kind = {"output_text": "text", "refusal": "refusal"}.get(str(part.get("type")))
            text = _word(part.get("refusal" if kind == "refusal" else "text"))
            if kind and text and kind not in told:
                out += self._say(item, kind, text)
        return out

    def _reasoning(self, item: _Item, raw: Json) -> list[Event]:
        out: list[Event] = []
        if (item.told | self._loose.told).isdisjoint({"summary", "thinking"}):
            for kind, name in (("thinking", "content"), ("summary", "summary")):
                for place, part in enumerate(_objects(raw.get(name))):
                    if text := _word(part.get("text")):
                        out += self._think(item, kind, place, text)
        proof = _word(raw.get("encrypted_content"))
        if proof:
            out.append(ThinkingSigned(proof, self._origin, redacted=True))
        return out

    def _say(self, item: _Item, kind: str, text: str) -> list[Event]:
        item.told.add(kind)
        self.any = True
        return [TextDelta(text) if kind == "text" else RefusalDelta(text)]

    def _think(self, item: _Item, kind: str, place: int, text: str) -> list[Event]:
        if ("thinking" if kind == "summary" else "summary") in item.told:
            return []
        item.told.add(kind)
        item.parts.add((kind, place))
        before, self._thought = self._thought, (item, place)
        self.any = True
        moved = before is not None and (before[0] is not item or before[1] != place)
        return [ThinkingDelta(BETWEEN + text if moved else text)]


def _place(event: Json, kind: str) -> int:
    place = event.get("summary_index" if kind == "summary" else "content_index")
    return place if isinstance(place, int) else 0


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
