"""Parts by URL, in every shape in which a caller can write them."""

import json
from typing import Any

import pytest
from msgspec import Raw

from zurelay.chat.problems import Refused
from zurelay.formats import remote_media
from zurelay.formats.anthropic.front import MessagesFront
from zurelay.formats.base import Ability, Inbound
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.formats.remote_media import KINDS, RemotePart

PNG = b"\x89PNG\r\n\x1a\n"
PDF = b"%PDF-1.7"
MP4 = b"\0\0\0 ftypisom"
PNG_64, PDF_64 = "iVBORw0KGgo=", "JVBERi0xLjc="
URL = "https://x.test/y"


def inbound(front: str, field: str, items: Any, **facts: Any) -> Inbound:
    body = {field: Raw(json.dumps(items).encode()), "model": Raw(b'"m"')}
    return Inbound(front=front, body=body, model="m", **facts)


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


CASES = [
    (
        "openai_chat",
        "messages",
        {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
        Ability.IMAGE,
        PNG,
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{PNG_64}", "detail": "low"},
        },
    ),
    (
        "openai_chat",
        "messages",
        {"type": "file", "file": {"file_data": URL}},
        Ability.PDF,
        PDF,
        {
            "type": "file",
            "file": {
                "filename": "document.pdf",
                "file_data": f"data:application/pdf;base64,{PDF_64}",
            },
        },
    ),
    (
        "openai_chat",
        "messages",
        {"type": "video_url", "video_url": {"url": URL}},
        Ability.VIDEO,
        MP4,
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAAIGZ0eXBpc29t"}},
    ),
    (
        "openai_responses",
        "input",
        {"type": "input_image", "image_url": URL, "detail": "auto"},
        Ability.IMAGE,
        PNG,
        {
            "type": "input_image",
            "image_url": f"data:image/png;base64,{PNG_64}",
            "detail": "auto",
        },
    ),
    (
        "openai_responses",
        "input",
        {"type": "input_file", "file_url": URL, "filename": "a.pdf"},
        Ability.PDF,
        PDF,
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": f"data:application/pdf;base64,{PDF_64}",
        },
    ),
    (
        "anthropic",
        "messages",
        {
            "type": "image",
            "source": {"type": "url", "url": URL},
            "cache_control": {"type": "ephemeral"},
        },
        Ability.IMAGE,
        PNG,
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG_64},
            "cache_control": {"type": "ephemeral"},
        },
    ),
    (
        "anthropic",
        "messages",
        {"type": "document", "source": {"type": "url", "url": URL}, "title": "t"},
        Ability.PDF,
        PDF,
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF_64},
            "title": "t",
        },
    ),
]


@pytest.mark.parametrize(("front", "field", "part", "kind", "data", "written"), CASES)
def test_each_shape_is_found_and_written_with_its_content(
    front: str, field: str, part: Any, kind: Ability, data: bytes, written: Any
) -> None:
    asked = inbound(front, field, [user({"type": "text", "text": "a"}, part)])
    path = f"{field}[0].content[1]"
    assert remote_media.found(asked, KINDS) == [RemotePart(path, URL, kind)]
    assert remote_media.found(asked, KINDS - {kind}) == []
    out = remote_media.inlined(asked, {URL: data})
    assert json.loads(bytes(out.body[field])) == [user({"type": "text", "text": "a"}, written)]
    assert out.body["model"] is asked.body["model"]


def test_parts_inside_of_tool_results_and_documents_are_found() -> None:
    image = {"type": "image", "source": {"type": "url", "url": URL}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [image]}
    made = {"type": "document", "source": {"type": "content", "content": [image]}}
    asked = inbound("anthropic", "messages", [user(result, made)])
    assert [part.path for part in remote_media.found(asked, KINDS)] == [
        "messages[0].content[0].content[0]",
        "messages[0].content[1].source.content[0]",
    ]
    output = [{"type": "input_image", "image_url": URL}]
    called = {"type": "function_call_output", "call_id": "c", "output": output}
    asked = inbound("openai_responses", "input", [called])
    assert [part.path for part in remote_media.found(asked, KINDS)] == ["input[0].output[0]"]


def test_what_is_not_by_url_stays_as_it_is() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"type": "image", "url": URL}}
    own = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    asked = inbound("anthropic", "messages", [user(call, own), {"role": "user", "content": URL}])
    assert remote_media.found(asked, KINDS) == []
    text = inbound("openai_responses", "input", URL)
    assert remote_media.found(text, KINDS) == []


def test_only_messages_with_such_a_part_are_written_anew() -> None:
    plain = b'{"role": "user",   "content": "a"}'
    image = json.dumps(user({"type": "image_url", "image_url": {"url": URL}})).encode()
    body = {"messages": Raw(b"[" + plain + b", " + image + b"]")}
    marks = frozenset({"remote_image", "file"})
    asked = Inbound(front="openai_chat", body=body, model="m", marks=marks)
    out = remote_media.inlined(asked, {URL: PNG})
    assert bytes(out.body["messages"]).startswith(b"[" + plain + b",")
    assert out.marks == {"file"}
    assert remote_media.inlined(asked, {URL: PNG}) == out


def test_a_file_that_is_not_what_its_part_says_is_refused_like_one_that_cannot_be_had() -> None:
    asked = inbound(
        "openai_chat", "messages", [user({"type": "image_url", "image_url": {"url": URL}})]
    )
    [part] = remote_media.found(asked, KINDS)
    for data in (PDF, b"<html>", b""):
        with pytest.raises(Refused) as refused:
            remote_media.inlined(asked, {URL: data})
        assert refused.value.problem == remote_media.unfetchable(part)
    problem = remote_media.unfetchable(part)
    assert (problem.status, problem.code) == (400, "unsupported_content")
    assert problem.param == "messages[0].content[0]"
    assert URL not in problem.message


def test_at_most_twenty_urls_are_named() -> None:
    def asked(count: int) -> Inbound:
        parts = [{"type": "image_url", "image_url": {"url": f"{URL}{n}"}} for n in range(count)]
        return inbound("openai_chat", "messages", [user(*parts, *parts)])

    assert len(remote_media.found(asked(20), KINDS)) == 40
    with pytest.raises(Refused) as refused:
        remote_media.found(asked(21), KINDS)
    assert refused.value.problem.param == "messages[0].content[20]"


@pytest.mark.parametrize(
    ("part", "marked"),
    [
        ({"type": "text", "text": URL}, False),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, False),
        ({"type": "image_url", "image_url": {"url": "http://x/y"}}, True),
        ({"type": "video_url", "video_url": {"url": URL}}, True),
        ({"type": "file", "file": {"file_data": URL}}, True),
        ({"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}, False),
    ],
)
def test_reading_a_chat_request_marks_what_came_by_url(part: Any, marked: bool) -> None:
    body = json.dumps({"model": "m", "messages": [user(part)]}).encode()
    assert remote_media.marked(ChatFront().read(body)) is marked


@pytest.mark.parametrize(
    ("block", "marked"),
    [
        ({"type": "text", "text": URL}, False),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": PNG_64},
            },
            False,
        ),
        ({"type": "image", "source": {"type": "url", "url": URL}}, True),
        ({"type": "document", "source": {"type": "url", "url": URL}}, True),
        (
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "image", "source": {"type": "url", "url": URL}}],
            },
            True,
        ),
        (
            {
                "type": "document",
                "source": {
                    "type": "content",
                    "content": [{"type": "image", "source": {"type": "url", "url": URL}}],
                },
            },
            True,
        ),
    ],
)
def test_reading_a_messages_request_marks_what_may_be_by_url(block: Any, marked: bool) -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    messages = [user({"type": "text", "text": "a"}), {"role": "assistant", "content": [call]}]
    body = {"model": "m", "max_tokens": 5, "messages": [*messages, user(block)]}
    read = MessagesFront().read(json.dumps(body).encode())
    assert remote_media.marked(read) is marked
    assert bool(remote_media.found(read, KINDS)) is marked


def test_other_fronts_are_searched_wherever_a_request_has_media() -> None:
    without = inbound("other", "messages", [], needs={Ability.TOOLS: "tools"})
    having = inbound("other", "messages", [], needs={Ability.IMAGE: "messages[0].content[0]"})
    assert not remote_media.marked(without)
    assert remote_media.marked(having)


@pytest.mark.parametrize(
    ("url", "fetched"),
    [
        ("https://www.youtube.com/watch?v=abc", False),
        ("https://YOUTU.be/abc", False),
        ("https://youtube.com.evil.test/watch", True),
        ("https://x.test/?u=https://youtu.be/abc", True),
    ],
)
def test_a_page_of_a_film_is_left_to_upstreams_that_know_the_site(url: str, fetched: bool) -> None:
    part = {"type": "video_url", "video_url": {"url": url}}
    body = json.dumps({"model": "m", "messages": [user(part)]}).encode()
    inbound = ChatFront().read(body)
    assert bool(remote_media.found(inbound, remote_media.KINDS)) is fetched
    if not fetched:
        assert remote_media.inlined(inbound, {}).body == inbound.body
