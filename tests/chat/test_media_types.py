"""Files are told by their bytes."""

import pytest

from zurelay.chat.media_types import media_type


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"\xff\xd8\xff\xe0..JFIF", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "audio/wav"),
        (b"RIFF\x10\0\0\0RMID", None),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\xef\xbb\xbf\n%PDF-1.4", "application/pdf"),
        (b"ID3\x04\0", "audio/mpeg"),
        (b"\xff\xfb\x90d", "audio/mpeg"),
        (b"\0\0\0 ftypisom\0\0", "video/mp4"),
        (b"\0\0\0 ftypavif\0\0", "image/avif"),
        (b"\0\0\0 ftypqt  \0\0", "video/quicktime"),
        (b"\x1aE\xdf\xa3\x01", "video/webm"),
        (b"OggS\0", "audio/ogg"),
        (b"<html>", None),
        (b"MZ\x90\0", None),
        (b"\xff", None),
        (b"", None),
    ],
)
def test_the_first_bytes_say_what_it_is(data: bytes, kind: str | None) -> None:
    assert media_type(data) == kind
