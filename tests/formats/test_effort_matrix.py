"""All seven words on every model of the catalogue that a format reaches, as its vendor reads them."""

import json
from itertools import product

import pytest

from tests.formats.vendors import level_told
from zurelay.catalogue.load import standard
from zurelay.catalogue.model import Model
from zurelay.chat.effort import SCALE, clamp
from zurelay.formats.base import Target
from zurelay.formats.choose import back_format
from zurelay.formats.registry import exchange, front
from zurelay.providers.base import Kind
from zurelay.providers.registry import KINDS

CHAT = front("openai_chat")
OWN = frozenset({"openai_chat", "openai_responses", "anthropic", "gemini"})
KINDS_WITH_MODELS = [
    kind
    for kind in KINDS.values()
    if kind.vendor is not None and kind.format in OWN and kind.name != "sandbox"
]
TOOL = {"type": "function", "function": {"name": "f"}}
BODIES = {
    tools: CHAT.read(
        json.dumps(
            {
                "model": "m",
                "messages": [{"role": "user", "content": "x"}],
                **({"tools": [TOOL]} if tools else {}),
            }
        ).encode()
    )
    for tools in (False, True)
}


def told(
    kind: Kind, model: Model, asked: str | None, tools: bool
) -> tuple[str | None, str | int | None]:
    """The level in force, and the level the vendor reads out of the request."""
    reasoning = model.reasoning
    used = shown = asked
    if reasoning is not None:
        used = clamp(asked, reasoning.levels) if asked and reasoning.levels else None
        shown = used or (reasoning.default if reasoning.levels else "none")
    profile = model.profile(kind.profile)
    inbound = BODIES[tools]
    back = back_format(
        kind.format,
        kind.also,
        only=model.format,
        lacks=profile.chat_lacks,
        needs=inbound.needs,
        effort=shown,
    )
    reasons = reasoning is not None and bool(reasoning.levels)
    target = Target(
        model.id, model.upstream, profile, used, shown, reasons, max_output=model.max_output
    )
    out = exchange("openai_chat", back).write(inbound, target)
    return used, level_told(str(kind.vendor), model.upstream, out.path, json.loads(out.body))


@pytest.mark.parametrize("tools", [False, True], ids=["plain", "tools"])
@pytest.mark.parametrize("kind", KINDS_WITH_MODELS, ids=lambda kind: kind.name)
def test_every_vendor_reads_the_level_that_we_say_is_in_force(kind: Kind, tools: bool) -> None:
    for model, asked in product(standard().by_vendor[str(kind.vendor)], (None, *SCALE)):
        if model.mode == "embeddings" or (model.format and model.format not in OWN):
            continue
        used, read = told(kind, model, asked, tools)
        known = model.reasoning
        if isinstance(read, int):
            assert known is not None
            assert known.budget is not None
            assert used not in (None, "none")
            assert known.budget[0] <= read <= known.budget[1], (model.id, asked)
        elif (asked is None or used == "none") and read is None and kind.format == "anthropic":
            assert "none" in (known.levels if known else ()) or asked is None, (model.id, asked)
        elif known is not None and known.levels in (("high",), ()):
            # No knob, or no thinking: nothing has to be said, and nothing wrong may be.
            assert read in (None, used), (model.id, asked)
        else:
            assert read == used, (model.id, asked)


def test_the_matrix_covers_the_labs_and_hosts() -> None:
    assert {"anthropic", "openai", "xai", "deepseek", "mistral", "moonshot", "zai", "dashscope", "meta", "groq",
            "together", "openrouter", "cohere"} <= {kind.name for kind in KINDS_WITH_MODELS}  # fmt: skip
