"""Every kind of model in the catalogue, all seven words, on an upstream as strict as its vendor."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.app.conftest import Caller
from tests.app.thinking import EFFORT, claude_says
from tests.formats.vendors import VendorRefuses, level_told
from zurelay.catalogue.load import standard
from zurelay.catalogue.model import Model
from zurelay.chat.effort import SCALE, clamp
from zurelay.providers.registry import KINDS
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream
from zurelay.upstream.client import HttpClient

OWN = ("", "openai_chat", "openai_responses", "anthropic")
NAMES = {
    kind.vendor: kind.name
    for kind in KINDS.values()
    if kind.vendor and kind.format in OWN and kind.name != "sandbox"
}


def samples() -> Iterator[Model]:
    """One model of each vendor for each way to be asked for effort."""
    seen = set()
    for vendor in NAMES:
        for model in standard().by_vendor[vendor]:
            reasoning = model.reasoning
            levels = None if reasoning is None else (reasoning.levels, reasoning.default)
            way = (vendor, levels, model.format, repr(sorted(model.quirks.items())))
            if way not in seen and model.format in OWN and model.mode != "embeddings":
                seen.add(way)
                yield model


FIRST: dict[str, Model] = {}
for sample in samples():
    FIRST.setdefault(sample.id, sample)  # the further vendors of a model are asked without sockets


def configuration(upstream: ScriptedUpstream) -> str:
    """Each vendor at its own path; OpenAI's models as deployments, as elsewhere is no OpenAI."""
    text = "[sandbox]\nenabled = false\n"
    for vendor, name in NAMES.items():
        kind = "azure-openai" if vendor == "openai" else name
        text += (
            f'[providers.{vendor}]\nkind = "{kind}"\nbase_url = "{upstream.base_url}/{vendor}"\n'
            'api_key = "k"\ncatalogue = false\n'
        )
    for model in FIRST.values():
        text += f'[models."{model.id}"]\nroutes = ["{model.vendor}"]\n'
    return text


def vendors(request: Request) -> Script:
    """Any vendor, by path; 400 where it would refuse. The level read goes back in the answer."""
    _, vendor, path = request.path.split("/", 2)
    body = request.json
    try:
        level = level_told(vendor, body["model"], f"/{path}", body)
    except (VendorRefuses, KeyError) as refused:
        return json_reply({"error": {"message": f"refused: {refused!r}"}}, 400)
    text = f"{vendor}:{level}"
    if path.endswith("messages"):
        return claude_says(text, body)
    if path == "responses":
        item = {"type": "message", "content": [{"type": "output_text", "text": text}]}
        response = {"status": "completed", "output": [item]}
        if body.get("stream"):
            return sse_reply([{"type": "response.completed", "response": response}])
        return json_reply(response)
    if body.get("stream"):
        return sse_reply(chat_chunks([text], usage=chat_usage()))
    return json_reply(chat_reply(text))


@pytest.fixture
async def matrix(tmp_path: Path) -> AsyncIterator[Caller]:
    async with (
        ScriptedUpstream(answer=vendors) as upstream,
        RunningGateway(tmp_path, configuration(upstream)) as gateway,
        HttpClient() as client,
    ):
        yield Caller(gateway, client)


@pytest.mark.timeout(60)
async def test_every_vendor_answers_every_word_at_the_level_the_header_tells(
    matrix: Caller,
) -> None:
    assert len(FIRST) > 40
    for model in FIRST.values():
        for asked in SCALE:
            answer = await matrix.chat(model=model.id, reasoning_effort=asked)
            assert answer.status == 200, (model.id, asked, answer.body)
            levels = model.reasoning.levels if model.reasoning else SCALE
            used = clamp(asked, levels)
            assert answer.headers[EFFORT] == used, (model.id, asked)
            vendor, told = answer.json["choices"][0]["message"]["content"].split(":")
            assert vendor == model.vendor
            if told.isdigit() or (vendor == "anthropic" and told == "None"):
                assert (used != "none") == told.isdigit(), (model.id, asked)  # by a budget, or off
            else:
                assert told == used or levels in (("high",), ()), (model.id, asked)
