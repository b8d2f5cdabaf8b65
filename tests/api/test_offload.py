"""Heavy bodies are read beside the loop, too heavy ones not at all."""

import asyncio
import gzip

import pytest

from tests.app.conftest import Caller as Client
from tests.app.conftest import Start
from tests.app.gateways import configuration
from zurelay.api import offload
from zurelay.chat.problems import Refused
from zurelay.testing.chat import chat_reply
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream

MB = 1024 * 1024


async def test_a_body_of_very_many_parts_is_read_beside_the_loop(
    start: Start, upstream: ScriptedUpstream
) -> None:
    client = await start(configuration(upstream))
    upstream.enqueue(json_reply(chat_reply("Hi")))
    loop = asyncio.get_running_loop()
    gaps = [0.0]

    async def watch() -> None:
        last = loop.time()
        while True:
            await asyncio.sleep(0)
            gaps.append(loop.time() - last)
            last = loop.time()

    watching = asyncio.create_task(watch())
    answer = await client.chat(parts=[1] * 300_000)
    watching.cancel()
    assert answer.status == 200
    assert len(upstream.requests[0].json["parts"]) == 300_000
    assert max(gaps) < 0.5


async def test_a_body_of_too_many_parts_is_a_413(client: Client) -> None:
    answer = await client.chat(parts=[1] * 2_000_001)
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    assert (await client.logged(answer))["http_status"] == 413


@pytest.mark.parametrize(
    ("body", "weight"),
    [
        (b"[" + b"1," * 200_000 + b"1]", 200_001),
        (b'"' + b"x" * 300_000 + b'"', 0),
        (b"[" * 1000, 0),  # too short to matter
    ],
)
def test_weight_counts_what_costs_a_parser_time(body: bytes, weight: int) -> None:
    assert offload.weight(body) == weight


def test_light_bodies_are_opened_here_and_heavy_ones_are_not() -> None:
    light, heavy = b"{}", b"[" + b"1," * 250_000 + b"1]"
    assert offload.open_here(light, "", MB) == light
    assert offload.open_here(gzip.compress(light), "gzip", MB) == light
    assert offload.open_here(heavy, "", MB) is None
    assert offload.open_here(gzip.compress(heavy), "gzip", MB) is None


def test_what_opens_to_more_than_is_opened_here_goes_elsewhere_unless_that_is_the_bound() -> None:
    packed = gzip.compress(b" " * (2 * MB))
    assert offload.open_here(packed, "gzip", 64 * MB) is None
    with pytest.raises(Refused) as refused:
        offload.open_here(packed, "gzip", MB)
    assert refused.value.problem.status == 413


async def test_the_reader_reads_what_the_front_would_and_brings_its_refusals_back() -> None:
    reader = offload.Reader()
    try:
        body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
        inbound = await reader.read("openai_chat", gzip.compress(body), "gzip", MB)
        assert inbound.model == "m"
        assert bytes(inbound.body["model"]) == b'"m"'
        for bad, encoding, status in (
            (b"[]", "", 400),
            (b"x", "gzip", 400),
            (gzip.compress(b" " * (2 * MB)), "gzip", 413),
            (b"[" + b"1," * 2_000_001 + b"1]", "", 413),
        ):
            with pytest.raises(Refused) as refused:
                await reader.read("openai_chat", bad, encoding, MB)
            assert refused.value.problem.status == status
    finally:
        reader.close()


async def test_a_reader_whose_process_died_refuses_and_starts_another() -> None:
    reader = offload.Reader()
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    try:
        await reader.read("openai_chat", body, "", MB)
        assert reader._pool is not None
        for process in reader._pool._processes.values():
            process.kill()
        with pytest.raises(Refused) as refused:
            await reader.read("openai_chat", body, "", MB)
        assert refused.value.problem.status == 503
        assert (await reader.read("openai_chat", body, "", MB)).model == "m"
    finally:
        reader.close()
