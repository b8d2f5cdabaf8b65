"""Tool calls in an upstream's answer, brought into the form that clients rely on."""

from collections.abc import Callable
from typing import Any

from zurelay.wire import json

Json = dict[str, Any]


def join_arguments(arguments: object) -> str:
    """Arguments as the string they should be; objects are encoded."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.encode(arguments).decode()


class _Call:
    """A call under way. `open`: its name is known and was told."""

    __slots__ = ("held", "id", "index", "name", "open")

    def __init__(self) -> None:
        self.index = -1
        self.id = ""
        self.name = ""
        self.open = False
        self.held = ""


class CallReader:
    """Reads the tool-call deltas of one choice.

    Tolerates: no index, no id or an empty or repeated one, no type, a name in every piece, a first
    piece without a name, whole calls in one piece, arguments as an object, one index for several
    whole calls.

    Attributes:
        any: whether there was a call.
    """

    __slots__ = ("_by_key", "_calls", "_ids", "_last", "_mint", "any")

    def __init__(self, mint: Callable[[int], str]) -> None:
        self._mint = mint
        self._by_key: dict[int | str, _Call] = {}
        self._calls: list[_Call] = []
        self._ids: set[str] = set()
        self._last: _Call | None = None
        self.any = False

    def is_open(self, index: int) -> bool:
        """Whether the call that the upstream numbers `index` is open under the same number."""
        call = self._by_key.get(index)
        return call is not None and call.open and call.index == index

    def read(self, deltas: list[Any]) -> list[Json]:
        """The deltas in normal form; those of calls whose name is unknown wait."""
        return [
            read
            for delta in deltas
            if isinstance(delta, dict) and (read := self._read(delta)) is not None
        ]

    def _read(self, delta: Json) -> Json | None:
        if isinstance(delta.get("custom"), dict):
            return self._custom(delta)
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        call_id, name = _word(delta.get("id")), _word(function.get("name"))
        call = self._find(delta.get("index"), call_id, name)
        arguments = join_arguments(function.get("arguments"))
        if call.open:
            return (
                {"index": call.index, "function": {"arguments": arguments}} if arguments else None
            )
        call.id = call.id or call_id
        call.name = call.name or name
        if not call.name:
            call.held += arguments
            return None
        self._open(call)
        opening = {key: value for key, value in delta.items() if value is not None}
        opening |= {
            "index": call.index,
            "id": call.id,
            "type": "function",
            "function": {**function, "name": call.name, "arguments": call.held + arguments},
        }
        return opening

    def _custom(self, delta: Json) -> Json:
        """A freeform call: only OpenAI has them, and streams them well."""
        self.any = True
        index = delta.get("index")
        if isinstance(index, int) and not isinstance(index, bool):
            return delta
        return {**delta, "index": 0}

    def _find(self, index: object, call_id: str, name: str) -> _Call:
        if isinstance(index, int) and not isinstance(index, bool):
            call = self._by_key.get(index)
            if call is None or (call.open and name and call_id and call_id != call.id):
                call = self._by_key[index] = _Call()
        elif call_id:
            call = self._by_key.get(call_id)
            if call is None:
                call = self._by_key[call_id] = _Call()
        elif self._last is None or (name and self._last.open):
            call = _Call()
        else:
            call = self._last
        self._last = call
        return call

    def _open(self, call: _Call) -> None:
        call.index = len(self._calls)
        if not call.id or call.id in self._ids:
            call.id = self._mint(call.index)
        self._ids.add(call.id)
        self._calls.append(call)
        call.open = True
        self.any = True


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
