"""Whatever way an upstream cuts, packs or ends its lines, the caller reads the same stream."""

import asyncio

import pytest

from tests.app.conftest import Ask, Start
from tests.app.gateways import Reader, configuration, text_of
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_usage
from zurelay.testing.script import (
    LAST_CHUNK,
    Close,
    Pause,
    Script,
    Send,
    Step,
    byte_by_byte,
    chunk,
    head,
    sse_event,
    sse_reply,
)
from zurelay.testing.upstream import ScriptedUpstream

STREAM = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
TEXT = "北京😀é"
PLAIN = b"".join(sse_event(e) for e in chat_chunks(TEXT, usage=chat_usage()))


def stream(*pieces: bytes, headers: dict[str, str] | None = None) -> Script:
    steps: list[Step] = [head(200, {**STREAM, **(headers or {})})]
    for piece in pieces:
        steps += [chunk(piece), Pause(0)]
    return [*steps, LAST_CHUNK]


ODD = (
    b"\xef\xbb\xbf: hi\r\n\r\n"
    b'data:{"choices":[{"index":0,"delta":{"content":"A"}}]}\r\n\r\n'
    b"id: 7\r\nretry: 10\r\nevent: message\r\n"
    b'data: {"choices":[{"index":0,\r\ndata: "delta":{"content":"B"}}]}\r\n\r\n'
    b'data:{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\r\n\r\n'
    b"data:[DONE]\r\n\r\n"
)


async def test_every_byte_by_itself_gives_the_same_text(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(byte_by_byte(sse_reply(chat_chunks(TEXT, usage=chat_usage()))))
    answer = await caller.chat(stream=True)
    assert answer.text == TEXT
    assert answer.events[-1] == "data: [DONE]"


async def test_characters_cut_anywhere_are_whole_in_the_end(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    raw = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % TEXT.encode()
    data = raw + b"".join(sse_event(e) for e in chat_chunks("")[1:])
    first = data.index("北".encode())
    for at in range(first - 1, first + len(TEXT.encode()) + 2):
        upstream.enqueue(stream(data[:at], data[at:]))
        answer = await caller.chat(stream=True)
        assert answer.text == TEXT, at


@pytest.mark.parametrize("ends", [b"\r\n", b"\n", b"\r"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_odd_but_legal_events_are_read(
    start: Start, upstream: ScriptedUpstream, ends: bytes, size: int
) -> None:
    caller = await start(configuration(upstream))
    data = ODD.replace(b"\r\n", ends)
    upstream.enqueue(stream(*(data[at : at + size] for at in range(0, len(data), size))))
    answer = await caller.chat(stream=True)
    assert answer.text == "AB"
    finishes = [c["choices"][0].get("finish_reason") for c in answer.chunks]
    assert [reason for reason in finishes if reason] == ["stop"]
    assert answer.body.count(b"[DONE]") == 1
    assert b"retry:" not in answer.body
    assert b"id: 7" not in answer.body


async def test_a_line_of_8_mib_passes(start: Start, upstream: ScriptedUpstream) -> None:
    caller = await start(configuration(upstream))
    large = "x" * (8 * 1024 * 1024 - 1000)
    upstream.enqueue(sse_reply(chat_chunks([large], usage=chat_usage())))
    answer = await caller.chat(stream=True)
    assert answer.text == large


async def test_packed_events_are_opened_one_by_one(
    start: Start, ask: Ask, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    go = asyncio.Event()
    events = chat_chunks(["Hi", " there"], usage=chat_usage())
    script = list(sse_reply(events, compressed=True))
    upstream.enqueue([*script[:3], Pause(go), *script[3:]])
    reader: Reader = await ask(caller, "accept-encoding: gzip, br, zstd")
    assert text_of(await reader.write()) == "Hi"
    assert "content-encoding" not in reader.headers
    go.set()
    assert text_of(b"".join(await reader.writes())) == " there"
    row = (await caller.get(f"/v1/requests/{reader.headers['x-request-id']}")).json
    assert row["usage"]["prompt_tokens"] == chat_usage()["prompt_tokens"]
    assert row["cost_estimated"] is False


async def test_a_stream_without_a_length_ends_with_its_connection(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue([head(200, {"content-type": "text/event-stream"}), Send(PLAIN), Close()])
    assert (await caller.chat(stream=True)).text == TEXT


async def test_headers_of_the_upstream_are_not_handed_on(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    told = {"x-request-id": "theirs", "openai-organization": "org", "set-cookie": "a=b"}
    upstream.enqueue(stream(PLAIN, headers=told))
    answer = await caller.chat(stream=True)
    assert answer.headers["x-request-id"].startswith("req_")
    assert "openai-organization" not in answer.headers
    assert "set-cookie" not in answer.headers


async def test_parallel_calls_keep_their_arguments_apart(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))

    def call(index: int, **fields: object) -> dict[str, object]:
        return chat_chunk({"tool_calls": [{"index": index, **fields}]})

    upstream.enqueue(
        sse_reply(
            [
                call(0, id="A", type="function", function={"name": "f", "arguments": ""}),
                call(1, id="B", type="function", function={"name": "g", "arguments": ""}),
                call(0, function={"arguments": '{"x"'}),
                call(1, function={"arguments": '{"y"'}),
                call(0, function={"arguments": ":1}"}),
                call(1, function={"arguments": ":2}"}),
                chat_chunk({}, finish_reason="tool_calls"),
                "[DONE]",
            ]
        )
    )
    answer = await caller.chat(stream=True, tools=TOOLS)
    arguments = {0: "", 1: ""}
    for c in answer.chunks:
        for delta in c["choices"][0]["delta"].get("tool_calls", ()):
            arguments[delta["index"]] += delta["function"].get("arguments", "")
    assert arguments == {0: '{"x":1}', 1: '{"y":2}'}


TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("f", "g")
]
