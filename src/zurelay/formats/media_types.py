"""The type of a picture or document in base64: what callers write is often wrong.

Knows no format.
"""

from base64 import b64decode

from zurelay.chat import media_types

_HEAD = 64
"""Base64 digits that are looked at; 48 bytes."""


def media_type(data: str) -> str | None:
    """The media type of base64 `data` by its first bytes; None if they do not tell."""
    head = "".join(data[: 2 * _HEAD].split())[:_HEAD]
    try:
        return media_types.media_type(b64decode(head[: len(head) // 4 * 4]))
    except ValueError:
        return None
