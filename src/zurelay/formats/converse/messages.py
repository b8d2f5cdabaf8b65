"""A conversation as Converse messages: turns alternate, user first, results before all else.

Pure and append-only: a longer conversation starts with the messages of the shorter one, up to its
last turn. Rules: vendor's API reference and service model, 2026-11-29.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from zurelay.chat import problems
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
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.chat.request import Turn
from zurelay.formats.converse import readable
from zurelay.formats.converse.tools import LONGEST_NAME, cache_point
from zurelay.formats.media_types import media_type
from zurelay.formats.tool_ids import legal
from zurelay.formats.tool_names import legal_name
from zurelay.wire import json

Json = dict[str, Any]

NOTHING = "."
"""Stands where a text must stand and there is none; blank text is refused."""

_IMAGES = {"image/jpg": "jpeg", "image/jpeg": "jpeg", "image/png": "png", "image/gif": "gif"}
_IMAGES |= {"image/webp": "webp"}
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    _WORD: "docx",
    "application/vnd.ms-excel": "xls",
    _SHEET: "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_VIDEOS = {
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/mpeg": "mpeg",
    "video/x-flv": "flv",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
NO_RESULT = "No result was given."
"""The result of a call that was never answered, because the turn was interrupted."""

_SYSTEM_ROLES = ("system", "developer")


class Writer:
    """Writes the turns of one request.

    Args:
        profile: of the model.
        dropped: takes the names of what is left out.
        marks_errors: a result can say that it is an error; else its text does.

    Attributes:
        system: blocks of the system prompt; known after `messages`.
        calls: names of the tools called in the conversation, in order, each once.
        prefill: it ends with a turn of the assistant's.
        bare_calls: calls are being answered whose turn does not begin with thinking.
    """

    def __init__(self, profile: Profile, dropped: list[str], *, marks_errors: bool = True) -> None:
        self._profile = profile
        self._dropped = dropped
        self._marks_errors = marks_errors
        self._documents = 0
        self.prefill = False
        self.bare_calls = False
        self.system: list[Json] = []
        self.calls: dict[str, None] = {}

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """All messages; raises Refused for a part that has no place here."""
        first = next(
            (place for place, turn in enumerate(turns) if turn.role not in _SYSTEM_ROLES),
            len(turns),
        )
        for turn in turns[:first]:
            self.system += self._texts(turn.parts)
        merged: list[Json] = []
        for turn in turns[first:]:
            if turn.name is not None:
                self._dropped.append("messages[].name")
            role = "assistant" if turn.role == "assistant" else "user"
            blocks = list(self._blocks(turn))
            if not any("reasoningContent" not in block for block in blocks):
                continue  # a turn that said nothing; thinking alone is a 400
            if merged and merged[-1]["role"] == role:
                merged[-1]["content"] += blocks
            else:
                merged.append({"role": role, "content": blocks})
        if not merged or merged[0]["role"] != "user":
            merged.insert(0, {"role": "user", "content": []})
        answered = _answered(merged, self._error)
        last = answered[-1]
        self.prefill = last["role"] == "assistant"
        if self.prefill:
            self._end_with(last)
        self.bare_calls = _bare_calls(answered)
        return answered

    def _end_with(self, last: Json) -> None:
        if not self._profile.prefill:
            told = (
                "This model cannot go on with an assistant's turn: the last message must be the "
                "user's or a tool's."
            )
            raise Refused(problems.invalid_value("messages", told))
        if "text" in last["content"][-1]:
            last["content"][-1] = {"text": last["content"][-1]["text"].rstrip()}  # else a 400

    def _texts(self, parts: Iterable[Part]) -> Iterable[Json]:
        for part in parts:
            if isinstance(part, Text) and part.text.strip():
                yield {"text": part.text}
                yield from cache_point(part.cache, self._profile)

    def _blocks(self, turn: Turn) -> Iterable[Json]:
        if turn.role in _SYSTEM_ROLES:
            for block in self._texts(turn.parts):
                text = block.get("text")
                yield block if text is None else {"text": f"<system>{text}</system>"}
            return
        for part in turn.parts:
            if turn.role == "assistant":
                yield from self._said(part)
            elif isinstance(part, ToolResult):
                yield from self._result(part)
            else:
                yield from self._content(part)

    def _said(self, part: Part) -> Iterable[Json]:
        """A part of an assistant's turn."""
        if isinstance(part, Thinking):
            if readable(part, self._profile):
                yield {"reasoningContent": _thinking(part)}
        elif isinstance(part, RefusalText):
            if part.text.strip():
                yield {"text": part.text}
        elif isinstance(part, ToolCall):
            self.calls[part.name] = None
            call = {"toolUseId": legal(part.id, "max64"), "name": _name(part)}
            yield {"toolUse": {**call, "input": _input(part)}}
        else:
            yield from self._content(part)

    def _result(self, part: ToolResult) -> Iterable[Json]:
        """A result; what an error may not hold stands after it."""
        content = [block for each in part.parts for block in self._content(each)]
        content = [block for block in content if "cachePoint" not in block]
        aside: list[Json] = []
        if part.is_error:
            # A result that failed with a picture in it is a 400 at Claude (pi #10794).
            aside = [block for block in content if "text" not in block]
            content = [block for block in content if "text" in block]
        result: Json = {"toolUseId": legal(part.call_id, "max64")}
        result["content"] = content or [{"text": NOTHING}]
        yield {"toolResult": self._error(result) if part.is_error else result}
        yield from cache_point(part.cache, self._profile)
        yield from aside

    def _error(self, result: Json) -> Json:
        """The result of a call that failed."""
        if self._marks_errors:
            return {**result, "status": "error"}
        return {**result, "content": [{"text": "Error:"}, *result["content"]]}

    def _content(self, part: Part) -> Iterable[Json]:
        match part:
            case Text():
                yield from self._texts((part,))
            case Image():
                if part.detail not in (None, "auto"):
                    self._dropped.append("messages[].content[].image_url.detail")
                yield {"image": _image(part)}
                yield from cache_point(part.cache, self._profile)
            case File():
                self._documents += 1
                yield {"document": _document(part, self._documents)}
                yield from cache_point(part.cache, self._profile)
            case Audio(data, kind):
                yield {"audio": {"format": kind, "source": {"bytes": data}}}
            case Video(url):
                yield {"video": _video(url)}
            case Thinking() | RefusalText() | ToolCall() | ToolResult():
                raise TypeError(f"{type(part).__name__} is no content of a user turn")


def _answered(messages: list[Json], error: Callable[[Json], Json]) -> list[Json]:
    """Each call with one result, in the order of the calls, at the start of the next turn."""
    out: list[Json] = []
    calls: list[str] = []
    for message in messages:
        if message["role"] == "user":
            out.append({"role": "user", "content": _user(message["content"], calls, error)})
            calls = []
            continue
        out.append(message)
        calls = [b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b]
    if calls:
        out.append({"role": "user", "content": _user([], calls, error)})
    return out


def _user(blocks: list[Json], calls: Sequence[str], error: Callable[[Json], Json]) -> list[Json]:
    """The results of `calls` first; a result without a call is told as plain content."""
    results: dict[str, list[Json]] = {}
    rest: list[Json] = []
    follows: list[Json] = rest
    for block in blocks:
        result = block.get("toolResult")
        if result is None:
            # A breakpoint goes with the result before it.
            (follows if "cachePoint" in block else rest).append(block)
            follows = follows if "cachePoint" in block else rest
        elif result["toolUseId"] in calls and result["toolUseId"] not in results:
            follows = results[result["toolUseId"]] = [block]
        else:
            follows = rest
            told = f"Result of the earlier tool call {result['toolUseId']}:"
            rest += [{"text": told}, *result["content"]]
    first = [each for call in calls for each in results.get(call) or _unanswered(call, error)]
    alone = any("document" in block for block in rest)
    if (alone and not any("text" in block for block in rest)) or not (first or rest):
        # A text must stand beside documents, and something in every turn.
        rest.append({"text": NOTHING})
    return first + rest


def _unanswered(call: str, error: Callable[[Json], Json]) -> list[Json]:
    return [{"toolResult": error({"toolUseId": call, "content": [{"text": NO_RESULT}]})}]


def _bare_calls(messages: Sequence[Json]) -> bool:
    if len(messages) < 2 or "toolResult" not in messages[-1]["content"][0]:
        return False
    return "reasoningContent" not in messages[-2]["content"][0]


def _name(part: ToolCall) -> str:
    return legal_name(part.name, LONGEST_NAME)


def _thinking(part: Thinking) -> Json:
    if part.redacted:
        return {"redactedContent": part.signature}
    return {"reasoningText": {"text": part.text, "signature": part.signature}}


def _input(part: ToolCall) -> Any:
    """The arguments as an object; what is none becomes an empty one, as its result stays."""
    try:
        found = json.decode(part.arguments.encode("utf-8", "surrogatepass"))
    except json.BadJson:
        return {}
    return found if isinstance(found, dict) else {}


def _image(part: Image) -> Json:
    if part.data is None:
        raise Refused(_no_address("images"))
    kind = _IMAGES.get(media_type(part.data) or part.media_type or "")
    if kind is None:
        raise Refused(_no_place("images other than JPEG, PNG, GIF and WebP"))
    return {"format": kind, "source": {"bytes": part.data}}


def _document(part: File, number: int) -> Json:
    if part.data is None:
        raise Refused(_no_address("files"))
    kind = _DOCUMENTS.get(media_type(part.data) or part.media_type or "application/pdf")
    if kind is None:
        raise Refused(_no_place("files of this type"))
    # Names must differ, may hold few characters, and are read by the model: none of the caller's.
    return {"format": kind, "name": f"document {number}", "source": {"bytes": part.data}}


def _video(url: str) -> Json:
    head, _, data = url.partition(",")
    if not head.startswith("data:"):
        raise Refused(_no_address("videos"))
    kind = _VIDEOS.get(head.removeprefix("data:").partition(";")[0])
    if kind is None:
        raise Refused(_no_place("videos of this type"))
    return {"format": kind, "source": {"bytes": data}}


def _no_address(what: str) -> problems.Problem:
    told = f"This model's provider fetches no {what}: send the data itself as a data URL."
    return problems.unsupported_content("messages", told)


def _no_place(what: str) -> problems.Problem:
    return problems.unsupported_content("messages", f"This model's provider takes no {what}.")
