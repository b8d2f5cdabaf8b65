"""Chat Completions as a conversation; embeddings too, as far as they are one."""

from zurelay.formats.openai_chat.fold import Fold
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


def asked(body: Json) -> list[Turn]:
    """What was said before the answer."""
    found: list[Turn] = []
    for message in objects(body.get("messages")):
        if message.get("role") in ("tool", "function"):
            name = text_of(message.get("tool_call_id") or message.get("name"))
            result = texts_of(message.get("content"))
            found += turn(message["role"], [Piece("result", result, name)])
        else:
            found += turn(message.get("role"), _pieces(message))
    return found


def answered(answer: bytes, *, stream: bool) -> list[Turn]:
    """The answer, each of its choices a turn."""
    if not stream:
        body = decoded(answer)
        choices = objects(body.get("choices")) if isinstance(body, dict) else []
        return _turns(choices) + fault(body)
    fold = Fold()
    faults: list[Turn] = []
    for event in events(answer):
        faults += fault(event)
        for choice in objects(event.get("choices")):
            if isinstance(choice.get("delta"), dict) and isinstance(choice.get("index"), int):
                fold.add(choice)
    return _turns(fold.choices()) + faults


def asked_vectors(body: Json) -> list[Turn]:
    """The texts of a request for embeddings."""
    given = body.get("input")
    texts = given if isinstance(given, list) else [given]
    return turn("input", [Piece("text", text_of(text)) for text in texts])


def answered_vectors(answer: bytes) -> list[Turn]:
    """How many vectors came."""
    body = decoded(answer)
    vectors = objects(body.get("data")) if isinstance(body, dict) else []
    kept = [Piece("note", text_of(one.get("embedding")), "embedding") for one in vectors]
    return turn("output", kept) + fault(body)


def _turns(choices: list[Json]) -> list[Turn]:
    found: list[Turn] = []
    for choice in choices:
        message = choice.get("message")
        if isinstance(message, dict):
            found += turn(message.get("role", "assistant"), _pieces(message))
    return found


def _pieces(message: Json) -> list[Piece]:
    found = [Piece("thinking", text_of(message.get("reasoning_content")))]
    content = message.get("content")
    if isinstance(content, list):
        found += [_part(part) for part in objects(content)]
    else:
        found.append(Piece("text", text_of(content)))
    found.append(Piece("refusal", text_of(message.get("refusal"))))
    for call in objects(message.get("tool_calls")):
        found.append(_call(call))
    old = message.get("function_call")
    if isinstance(old, dict):
        found.append(_call({"function": old}))
    if isinstance(message.get("audio"), dict):
        found.append(Piece("file", text_of(message["audio"].get("transcript")), "audio"))
    return found


def _part(part: Json) -> Piece:
    kind = text_of(part.get("type"))
    match kind:
        case "text" | "refusal":
            return Piece(kind, text_of(part.get(kind)))
        case "image_url":
            image = part.get("image_url")
            return Piece("file", text_of(image.get("url") if isinstance(image, dict) else image))
        case _:
            return Piece("file", text_of(part.get(kind, part)), kind)


def _call(call: Json) -> Piece:
    inner = call.get("function") or call.get("custom")
    if not isinstance(inner, dict):
        return Piece("note", text_of(call))
    given = inner.get("arguments", inner.get("input"))
    return Piece("call", arguments(given), text_of(inner.get("name")))
