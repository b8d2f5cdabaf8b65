"""The type of a picture or document by its first bytes: what callers write is often wrong.

Knows no format.
"""

from base64 import b64decode

_HEAD = 64
"""Base64 digits that are looked at; 48 bytes."""

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


def media_type(data: str) -> str | None:
    """The media type of base64 `data`; None if its bytes do not tell."""
    head = "".join(data[: 2 * _HEAD].split())[:_HEAD]
    try:
        start = b64decode(head[: len(head) // 4 * 4])
    except ValueError:
        return None
    for mark, kind in _STARTS:
        if start.startswith(mark):
            return kind
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    return None
