"""Anthropic's Messages as a conversation."""

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

_GROWING = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
}


def asked(body: Json) -> list[Turn]:
    """What was said before the answer."""
    found = turn("system", [Piece("text", texts_of(body.get("system")))])
    for message in objects(body.get("messages")):
        found += turn(message.get("role"), _pieces(message.get("content")))
    return found


def answered(answer: bytes, *, stream: bool) -> list[Turn]:
    """The answer."""
    if not stream:
        body = decoded(answer)
        if not isinstance(body, dict):
            return []
        return turn(body.get("role", "assistant"), _pieces(body.get("content"))) + fault(body)
    blocks: dict[int, Json] = {}
    faults: list[Turn] = []
    for event in events(answer):
        faults += fault(event)
        index, block, delta = event.get("index"), event.get("content_block"), event.get("delta")
        if not isinstance(index, int):
            continue
        if isinstance(block, dict):
            blocks[index] = {**block}
        elif isinstance(delta, dict) and index in blocks:
            _grow(blocks[index], delta)
    return turn("assistant", _pieces(list(blocks.values()))) + faults


def _grow(block: Json, delta: Json) -> None:
    name = _GROWING.get(text_of(delta.get("type")))
    if name is not None:
        block[name] = text_of(block.get(name)) + text_of(delta.get(name))


def _pieces(content: object) -> list[Piece]:
    if not isinstance(content, list):
        return [Piece("text", text_of(content))]
    return [_piece(block) for block in objects(content)]


def _piece(block: Json) -> Piece:
    kind = text_of(block.get("type"))
    match kind:
        case "text":
            return Piece("text", text_of(block.get("text")))
        case "thinking":
            return Piece("thinking", text_of(block.get("thinking")))
        case "redacted_thinking":
            return Piece("thinking", "…", "redacted")
        case "tool_use" | "server_tool_use":
            given = block.get("partial_json") or block.get("input")
            return Piece("call", arguments(given), text_of(block.get("name")))
        case "tool_result":
            return Piece(
                "result", texts_of(block.get("content")), text_of(block.get("tool_use_id"))
            )
        case "image" | "document":
            source = block.get("source")
            inner = source if isinstance(source, dict) else {}
            told = inner.get("data") or inner.get("url") or inner.get("file_id") or inner
            return Piece("file", text_of(told), kind)
        case _:
            return Piece("note", text_of(block), kind)
