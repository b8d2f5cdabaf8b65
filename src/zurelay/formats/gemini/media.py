"""Pictures, documents, sound and films as parts of this format.

Bytes travel inline, addresses as `fileData`, which newer models fetch themselves. Types: vendor's
pages, 2026-11-29. Knows no turns.
"""

import binascii
from base64 import b64decode
from typing import Any
from urllib.parse import urlsplit

from zurelay.chat import problems
from zurelay.chat.media_types import media_type as media_type_of
from zurelay.chat.parts import Audio, File, Image, Video
from zurelay.chat.problems import Refused

Json = dict[str, Any]
Media = Image | File | Audio | Video

_HEAD = 1400
"""Base64 digits that are looked at, whole groups of four."""

_BY_ENDING = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/plain",
    "csv": "text/csv",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mov": "video/quicktime",
    "avi": "video/x-msvideo",
    "flv": "video/x-flv",
    "webm": "video/webm",
    "wmv": "video/x-ms-wmv",
    "3gp": "video/3gpp",
}
_SPELLED = {"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav"}
_SOUND = {"mp3": "audio/mpeg"}


def part(media: Media) -> Json:
    """The part for it; raises Refused for a file that only another account can read."""
    match media:
        case Image():
            return _either(media.url, media.data, media.media_type, "image/jpeg")
        case File():
            return _file(media)
        case Audio(data, kind):
            return inline(_SOUND.get(kind, f"audio/{kind}"), data)
        case Video(url):
            found, film = _data_url(url)
            return _either(url, film, found, "video/mp4")


def inline(media_type: str, data: str) -> Json:
    """Base64 `data` in the request itself; its own bytes say better than anybody what it is."""
    kind = _sniffed(data) or _SPELLED.get(media_type, media_type)
    return {"inlineData": {"mimeType": kind, "data": data}}


def _sniffed(data: str) -> str | None:
    try:
        return media_type_of(b64decode(data[:_HEAD]))
    except (binascii.Error, ValueError):
        return None


def _either(url: str | None, data: str | None, media_type: str | None, usual: str) -> Json:
    if data is not None:
        return inline(media_type or usual, data)
    ending = urlsplit(url or "").path.rpartition(".")[2].lower()
    kind = media_type or _BY_ENDING.get(ending, usual)
    return {"fileData": {"mimeType": kind, "fileUri": url}}


def _file(media: File) -> Json:
    if media.file_id is not None:
        told = "A file_id belongs to one account at one provider; send the file's data instead."
        raise Refused(problems.unsupported_content("messages", told))
    kind = media.media_type or "application/pdf"
    if media.data is not None and kind.startswith("text/"):
        try:
            return {"text": b64decode(media.data).decode()}
        except (binascii.Error, ValueError):
            return inline(kind, media.data)
    return _either(media.url, media.data, media.media_type, "application/pdf")


def _data_url(url: str) -> tuple[str | None, str | None]:
    """Media type and base64 data of a data URL; (None, None) for any other."""
    if not url.startswith("data:"):
        return None, None
    head, _, data = url.removeprefix("data:").partition(",")
    return head.partition(";")[0] or None, data
