"""The sandbox models, as catalogue entries.

Their behaviour lives in the sandbox upstream; here stands only what callers see in the list.
"""

from zurelay.catalogue.model import FREE, Model, Reasoning
from zurelay.chat.effort import SCALE

_CONTEXT = 128_000
_MAX_OUTPUT = 10_000
"""The sandbox clips longer answers."""


def _sandbox(name: str, title: str, reasoning: Reasoning | None = None) -> Model:
    return Model(
        id=f"sandbox/{name}",
        name=f"Sandbox {title}",
        vendor="sandbox",
        upstream=f"sandbox/{name}",
        context=_CONTEXT,
        max_output=_MAX_OUTPUT,
        input=("text", "image", "pdf", "audio", "video"),
        reasoning=reasoning or Reasoning(),
        price=FREE,
        tools=True,
        mode="chat",
        source="this program",
    )


SANDBOX_MODELS = (
    _sandbox("echo", "Echo"),
    _sandbox("lorem", "Lorem"),
    _sandbox("reasoning", "Reasoning", Reasoning(SCALE, "medium")),
    _sandbox("tools", "Tools"),
    _sandbox("json", "JSON"),
    _sandbox("slow", "Slow"),
    _sandbox("stall", "Stall"),
    _sandbox("cut", "Cut"),
    _sandbox("error", "Error"),
    _sandbox("rate-limit", "Rate limit"),
    _sandbox("refusal", "Refusal"),
    _sandbox("usage", "Usage"),
    Model(
        id="sandbox/embedding",
        name="Sandbox Embedding",
        vendor="sandbox",
        upstream="sandbox/embedding",
        context=_CONTEXT,
        input=("text",),
        price=FREE,
        mode="embeddings",
        source="this program",
    ),
)
