"""Embeddings in the catalogue."""

from zurelay.catalogue.embeddings import EMBEDDING_MODELS
from zurelay.catalogue.load import standard
from zurelay.catalogue.view import model_view


def test_they_stand_in_the_standard_catalogue_with_a_price() -> None:
    small = standard().by_id["text-embedding-3-small"]
    assert small.mode == "embeddings"
    price = model_view(small, 1, 0.0, "us")["price"]
    assert price == {"input": "0.02", "output": "0.00"}
    assert standard().entry("mistral", "mistral-embed") in EMBEDDING_MODELS


def test_every_other_model_answers() -> None:
    others = [m for m in standard().by_id.values() if m not in EMBEDDING_MODELS]
    assert [m.id for m in others if m.mode != "chat"] == ["sandbox/embedding"]
