"""What a turn of a conversation is made of.

One neutral form for every wire format: the formats read into these and write from them. Frozen, so
that a translation can run again for each attempt and never change its input.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. `cache` marks a prompt-cache breakpoint after it: `5m` or `1h`."""

    text: str
    cache: str | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, by `url` (http, https) or by `data` (base64) with its `media_type`."""

    url: str | None = None
    data: str | None = None
    media_type: str | None = None
    detail: str | None = None
    cache: str | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A document (PDF or text), by `url`, by `data` (base64), or by a provider's `file_id`."""

    url: str | None = None
    data: str | None = None
    media_type: str | None = None
    filename: str | None = None
    file_id: str | None = None
    cache: str | None = None


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound as base64 `data` in `format` (`wav`, `mp3`)."""

    data: str
    format: str


@dataclass(frozen=True, slots=True)
class Video:
    """A film by `url` (http, https or a data URL)."""

    url: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A stretch of a model's reasoning.

    Attributes:
        text: what the model shared of it; may be empty.
        signature: the provider's proof or encrypted form, opaque.
        origin: which vendor may read `signature` back; the block is dropped whole elsewhere.
        redacted: whether `signature` holds the whole content and `text` nothing.
        call_id: the tool call that the proof hangs on, in formats that hang it there; None where
            the place among the parts says it.
    """

    text: str = ""
    signature: str | None = None
    origin: str | None = None
    redacted: bool = False
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class RefusalText:
    """The model's own words of refusal."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool. `arguments` stays the exact string the model wrote, valid JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back."""

    call_id: str
    parts: tuple["Text | Image | File", ...]
    is_error: bool = False
    cache: str | None = None


Part = Text | Image | File | Audio | Video | Thinking | RefusalText | ToolCall | ToolResult
