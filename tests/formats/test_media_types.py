"""Types by bytes."""

import base64

import pytest

from zurelay.formats.media_types import media_type


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"%PDF-1.4", "application/pdf"),
        (b"hello", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell(start: bytes, kind: str | None) -> None:
    assert media_type(base64.b64encode(start + bytes(60)).decode()) == kind


def test_blanks_and_nonsense_do_no_harm() -> None:
    wrapped = base64.encodebytes(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
    assert media_type("\n" + wrapped) == "image/png"
    assert media_type("!!") is None
    assert media_type("é" * 100) is None
