"""Folds the normal-form choices of a stream into the choices of a plain answer."""

from typing import Any

Json = dict[str, Any]

_GROWING = frozenset(
    {"content", "reasoning_content", "refusal", "annotations", "reasoning_details"}
)
_OBJECTS = frozenset({"audio", "function_call"})


class Fold:
    """Takes choices one by one; gives the whole of them."""

    __slots__ = ("_choices", "_messages")

    def __init__(self) -> None:
        self._choices: dict[int, Json] = {}
        self._messages: dict[int, Json] = {}

    def add(self, choice: Json) -> None:
        """One more choice of an event."""
        index = choice["index"]
        if index not in self._choices:
            self._choices[index] = {"index": index, "message": {}, "finish_reason": None}
            self._messages[index] = {"role": "assistant", "content": None}
        whole, message = self._choices[index], self._messages[index]
        for name, value in choice.items():
            if name == "delta":
                for key, piece in value.items():
                    _merge(message, key, piece)
            elif name == "logprobs":
                whole[name] = _logprobs(whole.get(name), value)
            elif value is not None or name not in whole:
                whole[name] = value

    def choices(self) -> list[Json]:
        """The whole choices, by index."""
        return [
            {**self._choices[index], "message": _finished(self._messages[index])}
            for index in sorted(self._choices)
        ]


def _merge(message: Json, name: str, piece: Any) -> None:
    before = message.get(name)
    if piece is None:
        message.setdefault(name, None)
    elif name == "tool_calls":
        message[name] = _calls(before or [], piece)
    elif name in _OBJECTS and isinstance(before, dict) and isinstance(piece, dict):
        message[name] = _joined(before, piece)
    else:
        message[name] = _grown(before, piece) if name in _GROWING else piece


def _grown(before: Any, piece: Any) -> Any:
    if isinstance(before, str):
        return before + piece if isinstance(piece, str) else before
    if isinstance(before, list):
        return before + piece if isinstance(piece, list) else before
    return piece


def _calls(calls: list[Json], deltas: list[Json]) -> list[Json]:
    for delta in deltas:
        opened = "id" in delta
        known = next((call for call in calls if call["index"] == delta["index"]), None)
        if known is None or (opened and known["id"] != delta["id"]):
            calls.append(delta)
        else:
            for kind in ("function", "custom"):
                if kind in delta:
                    known[kind] = _joined(known.get(kind, {}), delta[kind])
    return calls


def _joined(before: Json, piece: Json) -> Json:
    """Two pieces of an object: `arguments`, `input`, `data` and `transcript` grow."""
    out = {**before}
    for name, value in piece.items():
        if name in ("arguments", "input", "data", "transcript") and isinstance(out.get(name), str):
            out[name] += value if isinstance(value, str) else ""
        elif value is not None:
            out[name] = value
    return out


def _logprobs(before: Any, piece: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(piece, dict):
        return before if piece is None else piece
    out = {**before}
    for name, value in piece.items():
        old = out.get(name)
        out[name] = (
            old + value if isinstance(old, list) and isinstance(value, list) else value or old
        )
    return out


def _finished(message: Json) -> Json:
    calls = message.get("tool_calls")
    if calls is not None:
        message["tool_calls"] = [
            {name: value for name, value in call.items() if name != "index"} for call in calls
        ]
    else:
        message.pop("tool_calls", None)
    if message.get("reasoning_content", "") is None:
        del message["reasoning_content"]
    if not message["content"] and (calls or message.get("refusal")):
        message["content"] = None
    return message
