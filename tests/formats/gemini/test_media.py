"""Parts that are not text."""

from typing import Any

import pytest

from zurelay.chat.parts import Audio, File, Image, Video
from zurelay.chat.problems import Refused
from zurelay.formats.gemini.media import part

PNG = "iVBORw0KGgoAAAANSUhEUg=="


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (Image(data=PNG, media_type="image/jpeg"), {"inlineData": ("image/png", PNG)}),
        (Image(data="AAAA", media_type="image/jpg"), {"inlineData": ("image/jpeg", "AAAA")}),
        (Image(data="!", media_type=None), {"inlineData": ("image/jpeg", "!")}),
        (Image(url="https://x/a.PNG?b=1"), {"fileData": ("image/png", "https://x/a.PNG?b=1")}),
        (Image(url="https://x/a"), {"fileData": ("image/jpeg", "https://x/a")}),
        (File(data="AAAA"), {"inlineData": ("application/pdf", "AAAA")}),
        (File(url="gs://b/a.csv"), {"fileData": ("text/csv", "gs://b/a.csv")}),
        (File(data="/w==", media_type="text/plain"), {"inlineData": ("text/plain", "/w==")}),
        (Audio("AAAA", "wav"), {"inlineData": ("audio/wav", "AAAA")}),
        (Audio("AAAA", "mp3"), {"inlineData": ("audio/mpeg", "AAAA")}),
        (Video("data:video/webm;base64,AAAA"), {"inlineData": ("video/webm", "AAAA")}),
        (Video("https://youtu.be/x"), {"fileData": ("video/mp4", "https://youtu.be/x")}),
    ],
)
def test_bytes_go_inline_and_addresses_as_they_are(given: Any, sent: dict[str, Any]) -> None:
    ((kind, (media_type, content)),) = sent.items()
    name = "data" if kind == "inlineData" else "fileUri"
    assert part(given) == {kind: {"mimeType": media_type, name: content}}


def test_text_files_are_text() -> None:
    assert part(File(data="SMOp", media_type="text/markdown")) == {"text": "Hé"}


def test_a_file_of_another_account_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        part(File(file_id="file-1"))
    assert refused.value.problem.code == "unsupported_content"
