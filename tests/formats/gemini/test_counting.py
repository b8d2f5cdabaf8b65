"""The count of a prompt."""

import json

import pytest

from tests.formats.gemini.gemini import STUDIO
from zurelay.chat.parts import Text
from zurelay.chat.request import Request, Tool, Turn
from zurelay.formats.base import Target
from zurelay.formats.gemini.counting import read, write

ASKED = Request(
    (Turn("system", (Text("S"),)), Turn("user", (Text("Hi"),))),
    tools=(Tool("f"),),
    temperature=0.5,
    extra={"safety_settings": []},
)
CONTENTS = [{"role": "user", "parts": [{"text": "Hi"}]}]


def test_the_gemini_api_counts_the_request_it_would_answer() -> None:
    out = write(ASKED, Target("public", "up", STUDIO, stream=True))
    assert out.path == "/models/up:countTokens"
    (wrapped,) = json.loads(out.body).values()
    assert wrapped["model"] == "models/up"
    assert wrapped["contents"] == CONTENTS
    assert {"systemInstruction", "tools", "generationConfig"} <= set(wrapped)


def test_vertex_takes_its_parts_as_they_are() -> None:
    vertex = STUDIO.but(path_prefix="/publishers/google")
    out = write(ASKED, Target("public", "up", vertex))
    assert out.path == "/publishers/google/models/up:countTokens"
    body = json.loads(out.body)
    assert body["contents"] == CONTENTS
    assert set(body) == {"contents", "systemInstruction", "tools", "generationConfig"}


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b'{"totalTokens": 31, "promptTokensDetails": []}', 31),
        (b'{"totalTokens": "31"}', None),
        (b'{"totalTokens": true}', None),
        (b"{}", None),
        (b"[]", None),
        (b"<html>", None),
    ],
)
def test_the_count_is_read(body: bytes, count: int | None) -> None:
    assert read(body) == count
