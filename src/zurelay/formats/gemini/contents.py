"""The turns of a conversation as this format's `contents`, under its rules of order.

Only the roles `user` and `model`, in turns about; the answers to a turn's function calls come
first in the next user content, one for each call and in the order of the calls. A pure function: a
longer conversation starts with the contents of the shorter one. Rules: vendor's API reference and
its page on thought signatures, 2026-11-29.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from msgspec import Raw

from zurelay.chat.parts import (
    Audio,
    File,
    Image,
    Part,
    RefusalText,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Video,
)
from zurelay.chat.profile import Profile
from zurelay.chat.request import Turn
from zurelay.formats import instructions
from zurelay.formats.gemini import ORIGIN, media, names
from zurelay.formats.origin import may_read
from zurelay.formats.tool_ids import legal
from zurelay.wire import json

Json = dict[str, Any]

_NOTHING = {"text": "."}
"""Stands where a content must be and nothing is: blank text is refused."""


@dataclass(slots=True)
class Conversation:
    """What the turns came to.

    Attributes:
        system: parts of the system instruction.
        contents: everything after it.
        dropped: paths of what was left out.
        ends_with_model: the conversation ends with the model's own words.
    """

    system: list[Json] = field(default_factory=list)
    contents: list[Json] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    ends_with_model: bool = False


def conversation(turns: Sequence[Turn], profile: Profile, lines: Sequence[str]) -> Conversation:
    """The whole conversation; `lines` are instructions of our own that go last."""
    out = Conversation()
    first = instructions.leading(turns)
    out.system = [{"text": text} for text in instructions.texts(turns[:first]) if text]
    rest = [*turns[first:], *(Turn("system", (Text(line),)) for line in lines)]
    calls: list[ToolCall] = []
    for of_model, run in groupby(rest, lambda turn: turn.role == "assistant"):
        if of_model:
            said = list(run)
            parts = [part for turn in said for part in _spoken(turn, profile)]
            if not parts:
                continue
            if not out.contents:
                out.contents.append({"role": "user", "parts": [_NOTHING]})
            calls += [part for turn in said for part in turn.parts if isinstance(part, ToolCall)]
            _add(out, "model", parts)
        else:
            _add(out, "user", _heard(list(run), calls, profile, out.dropped) or [_NOTHING])
            calls = []
    if calls:
        _add(out, "user", _heard([], calls, profile, out.dropped))
    out.ends_with_model = bool(out.contents) and out.contents[-1]["role"] == "model"
    if not out.contents:
        _add(out, "user", [_NOTHING])
    return out


def _add(out: Conversation, role: str, parts: list[Json]) -> None:
    """Neighbours of one role are one content."""
    if out.contents and out.contents[-1]["role"] == role:
        out.contents[-1]["parts"] += parts
    else:
        out.contents.append({"role": role, "parts": parts})


# What the model said.


def _spoken(turn: Turn, profile: Profile) -> list[Json]:
    """One assistant turn. Its thinking stays here; only the proofs of it go back."""
    bound, loose = _proofs(turn.parts, profile)
    if not bound and profile.reasoning_placeholder:
        first = next((at for at, part in enumerate(turn.parts) if isinstance(part, ToolCall)), None)
        if first is not None:
            bound[first] = profile.reasoning_placeholder
    out: list[Json] = []
    for at, part in enumerate(turn.parts):
        proof = {"thoughtSignature": bound[at]} if at in bound else {}
        if isinstance(part, Text | RefusalText) and (part.text or proof):
            out.append({"text": part.text, **proof})
        elif isinstance(part, ToolCall):
            out.append({"functionCall": _call(part, profile), **proof})
    if loose is not None and out:
        out.append({"text": "", "thoughtSignature": loose})
    return out


def _proofs(parts: Sequence[Part], profile: Profile) -> tuple[dict[int, str], str | None]:
    """Place of a call or a text -> its signature; and one that belongs after all of them.

    A proof that names a call hangs on it. One that names none hangs on the next call, unless
    another call has its proof by name; where no call follows, on the last text.
    """
    calls = {part.id: at for at, part in enumerate(parts) if isinstance(part, ToolCall)}
    texts = [at for at, part in enumerate(parts) if isinstance(part, Text)]
    found = [
        (at, part.signature, part.call_id)
        for at, part in enumerate(parts)
        if isinstance(part, Thinking)
        and part.signature
        and may_read(part.origin, profile.realm, ORIGIN)
    ]
    bound = {calls[name]: proof for _, proof, name in found if name in calls}
    by_name = bool(bound)
    loose = None
    for at, proof, name in found:
        if name is not None:
            continue
        nexts = [place for place in calls.values() if place > at and place not in bound]
        if nexts and not by_name:
            bound[min(nexts)] = proof
        elif texts:
            bound[texts[-1]] = proof
        else:
            loose = proof
    return bound, loose


def _call(call: ToolCall, profile: Profile) -> Json:
    return {**_named(call, profile), "args": _arguments(call.arguments)}


def _named(call: ToolCall, profile: Profile) -> Json:
    """Where there are no ids, calls and results belong together by their order."""
    called = {"id": legal(call.id, profile.tool_ids)} if profile.call_ids else {}
    return {**called, "name": names.legal(call.name)}


def _arguments(text: str) -> object:
    """The caller's own bytes where they are an object, else an empty one."""
    try:
        raw = text.encode()
        return Raw(raw) if isinstance(json.decode(raw), dict) else {}
    except (UnicodeEncodeError, json.BadJson):
        return {}


# What the model heard.


def _heard(
    turns: Sequence[Turn], calls: Sequence[ToolCall], profile: Profile, dropped: list[str]
) -> list[Json]:
    """User, system and tool turns between two of the model's: results first, in call order."""
    results: dict[str, ToolResult] = {}
    rest: list[Json] = []
    known = {call.id for call in calls}
    for turn in turns:
        if turn.name is not None:
            dropped.append("messages[].name")
        for part in turn.parts:
            if not isinstance(part, ToolResult):
                rest += _part(part, turn.role, dropped)
            elif part.call_id in known and part.call_id not in results:
                results[part.call_id] = part
            else:
                rest += _orphan(part, dropped)
    aside: list[Json] = []
    answers = [_answer(call, results.get(call.id), profile, aside, dropped) for call in calls]
    return [*answers, *aside, *rest]


def _part(part: Part, role: str, dropped: list[str]) -> Iterable[Json]:
    match part:
        case Text(text) | RefusalText(text):
            if text:
                yield {"text": f"<system>{text}</system>" if role in instructions.ROLES else text}
        case Image() | File() | Audio() | Video():
            yield _media(part, dropped)
        case Thinking() | ToolCall() | ToolResult():
            raise TypeError(f"{type(part).__name__} is no content of a user turn")


def _media(part: media.Media, dropped: list[str]) -> Json:
    if isinstance(part, Image) and part.detail not in (None, "auto"):
        dropped.append("messages[].content[].image_url.detail")
    return media.part(part)


def _orphan(result: ToolResult, dropped: list[str]) -> Iterable[Json]:
    """A result whose call is not in the history: plain words of the user."""
    for part in result.parts:
        yield from _part(part, "user", dropped)


def _answer(
    call: ToolCall,
    result: ToolResult | None,
    profile: Profile,
    aside: list[Json],
    dropped: list[str],
) -> Json:
    """The answer to one call; what it cannot hold goes to `aside`."""
    answer: Json = {**_named(call, profile), "response": {"error": "No result provided"}}
    if result is None:
        return {"functionResponse": answer}
    texts = [part.text for part in result.parts if isinstance(part, Text)]
    held = [_media(part, dropped) for part in result.parts if not isinstance(part, Text)]
    if held and not texts:
        texts = ["The result is attached."]
    answer["response"] = {"error" if result.is_error else "output": "\n\n".join(texts)}
    if held and profile.media_in_results:
        answer["parts"] = held
    else:
        aside += held
    return {"functionResponse": answer}
