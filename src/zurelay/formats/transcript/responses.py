"""OpenAI's Responses as a conversation."""

from zurelay.formats.transcript.turn import (
    Json,
    Piece,
    Turn,
    arguments,
    decoded,
    events,
    fault,
    objects,
    text_of,
    texts_of,
    turn,
)

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_GROWING = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
}


def asked(body: Json) -> list[Turn]:
    """What was said before the answer."""
    found = turn("system", [Piece("text", text_of(body.get("instructions")))])
    given = body.get("input")
    if isinstance(given, str):
        return found + turn("user", [Piece("text", given)])
    return found + _turns(objects(given))


def answered(answer: bytes, *, stream: bool) -> list[Turn]:
    """The answer; of a stream that broke off, as far as it came."""
    if not stream:
        body = decoded(answer)
        return _of_response(body) if isinstance(body, dict) else []
    items: dict[int, Json] = {}
    faults: list[Turn] = []
    for event in events(answer):
        kind = text_of(event.get("type"))
        response, item, index = event.get("response"), event.get("item"), event.get("output_index")
        if kind in _ENDS and isinstance(response, dict) and objects(response.get("output")):
            return _of_response(response)
        if kind == "response.failed" and isinstance(response, dict):
            faults += fault(response)
        elif kind == "error":
            faults += fault(event if "error" in event else {"error": event})
        if not isinstance(index, int):
            continue
        if isinstance(item, dict):
            items[index] = {**item}
        elif kind in _GROWING and index in items:
            _grow(items[index], _GROWING[kind], text_of(event.get("delta")))
    return _turns([items[index] for index in sorted(items)]) + faults


def _of_response(response: Json) -> list[Turn]:
    return _turns(objects(response.get("output"))) + fault(response)


def _grow(item: Json, name: str, delta: str) -> None:
    if name == "arguments":
        item[name] = text_of(item.get(name)) + delta
        return
    where, kind = {
        "text": ("content", "output_text"),
        "refusal": ("content", "refusal"),
        "thinking": ("summary", "summary_text"),
    }[name]
    field = "refusal" if kind == "refusal" else "text"
    parts = item.setdefault(where, [])
    if not parts or parts[-1].get("type") != kind:
        parts.append({"type": kind, field: ""})
    parts[-1][field] += delta


def _turns(items: list[Json]) -> list[Turn]:
    """Turns of items; those of one side that follow each other are one."""
    found: list[Turn] = []
    for item in items:
        for made in _turn(item):
            if found and found[-1].role == made.role == "assistant":
                found[-1] = Turn(made.role, found[-1].pieces + made.pieces)
            else:
                found.append(made)
    return found


def _turn(item: Json) -> list[Turn]:
    kind = text_of(item.get("type") or "message")
    name = text_of(item.get("name"))
    match kind:
        case "message":
            content = item.get("content")
            if isinstance(content, list):
                return turn(item.get("role"), [_part(part) for part in objects(content)])
            return turn(item.get("role"), [Piece("text", text_of(content))])
        case "reasoning":
            thought = texts_of(item.get("summary") or item.get("content") or "")
            return turn("assistant", [Piece("thinking", thought)])
        case "function_call" | "custom_tool_call":
            given = item.get("arguments", item.get("input"))
            return turn("assistant", [Piece("call", arguments(given), name)])
        case "function_call_output" | "custom_tool_call_output":
            result = Piece("result", texts_of(item.get("output")), text_of(item.get("call_id")))
            return turn("tool", [result])
        case _:
            return turn("assistant", [Piece("note", text_of(item), kind)])


def _part(part: Json) -> Piece:
    kind = text_of(part.get("type"))
    match kind:
        case "input_text" | "output_text" | "text":
            return Piece("text", text_of(part.get("text")))
        case "refusal":
            return Piece("refusal", text_of(part.get("refusal")))
        case "input_image":
            return Piece("file", text_of(part.get("image_url") or part.get("file_id")), "image")
        case "input_file":
            told = part.get("file_data") or part.get("file_url") or part.get("file_id")
            name = text_of(part.get("filename")) or "file"
            return Piece("file", text_of(told), name)
        case _:
            return Piece("note", text_of(part), kind)
