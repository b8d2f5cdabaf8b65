"""Models that make embeddings; the catalogue's data file is of models that answer.

Prices and windows are the vendors' own as of 2026-11 (OpenAI's and Mistral's pricing pages; the
same in litellm 1.110.2).
"""

from zurelay.catalogue.model import Model
from zurelay.catalogue.price import parse_price

_CHECKED = "2026-11-29"


def _embedding(vendor: str, model_id: str, name: str, price: str, released: str = "") -> Model:
    return Model(
        id=model_id,
        name=name,
        vendor=vendor,
        upstream=model_id,
        context=8192,  # of each text, not of all together
        input=("text",),
        price=parse_price({"input": price, "output": "0", "source": "vendor", "checked": _CHECKED}),
        mode="embeddings",
        released=released,
        source="vendor",
        checked=_CHECKED,
    )


EMBEDDING_MODELS = (
    _embedding("openai", "text-embedding-3-small", "Text Embedding 3 Small", "0.02", "2024-01-25"),
    _embedding("openai", "text-embedding-3-large", "Text Embedding 3 Large", "0.13", "2024-01-25"),
    _embedding("openai", "text-embedding-ada-002", "Text Embedding Ada 002", "0.10", "2022-12-15"),
    _embedding("mistral", "mistral-embed", "Mistral Embed", "0.10", "2023-12-11"),
    _embedding("mistral", "codestral-embed", "Codestral Embed", "0.15", "2025-05-28"),
)
