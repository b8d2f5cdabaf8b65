"""The sandbox's embeddings: the same vector for the same text, and close ones for like texts.

Each word points in directions of its own, and a text is the sum of its words: texts that share
words lie close together, others almost at a right angle. Shapes of OpenAI, 2026-11.
"""

import hashlib
import re
from base64 import b64encode
from math import sqrt
from struct import pack
from typing import Any

import msgspec

from zurelay.chat.problems import Problem, Refused, invalid_value, missing, model_not_found
from zurelay.sandbox.behaviour import PREFIX
from zurelay.sandbox.reading import decoded

MODEL = "embedding"
PATH = "/embeddings"
MOST_DIMENSIONS = 3072
_DIMENSIONS = 256
_DIRECTIONS = 8
"""How many coordinates a word has something in."""

_WORD = re.compile(r"\w+|[^\w\s]")
_PLACES = 6
_CHARACTERS_PER_TOKEN = 4


class _Body(msgspec.Struct):
    model: str | None = None
    input: Any = None
    dimensions: int | None = None
    encoding_format: str | None = None


_decoder = msgspec.json.Decoder(_Body)
_encode = msgspec.json.Encoder().encode


def embeddings(body: bytes) -> bytes:
    """The answer to a request for embeddings.

    Raises:
        Refused: it is none, or names a model that makes no embeddings.
    """
    asked = decoded(_decoder, body)
    name, _, query = (asked.model or "").partition("?")
    if name.removeprefix(PREFIX) != MODEL:
        raise Refused(model_not_found(name[:100], PREFIX + MODEL))
    if query:
        raise Refused(invalid_value("model", f"{PREFIX}{MODEL} takes no parameters."))
    size = _DIMENSIONS if asked.dimensions is None else asked.dimensions
    if not 1 <= size <= MOST_DIMENSIONS:
        raise Refused(invalid_value("dimensions", f"It must be from 1 to {MOST_DIMENSIONS}."))
    texts = _texts(asked.input)
    packed = asked.encoding_format == "base64"
    vectors = [vector(text, size) for text in texts]
    tokens = sum(-(-len(text) // _CHARACTERS_PER_TOKEN) for text in texts)
    return _encode(
        {
            "object": "list",
            "data": [
                {"object": "embedding", "index": at, "embedding": _base64(one) if packed else one}
                for at, one in enumerate(vectors)
            ],
            "model": asked.model,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )


def vector(text: str, size: int) -> list[float]:
    """A text's vector of length one."""
    sums = [0.0] * size
    for word in _WORD.findall(text.lower()) or [text]:
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4 * _DIRECTIONS)
        bits = digest.digest()
        for start in range(0, len(bits), 4):
            number = int.from_bytes(bits[start : start + 4], "big")
            sums[(number >> 1) % size] += 1.0 if number & 1 else -1.0
    length = sqrt(sum(value * value for value in sums))
    if not length:
        return [1.0] + [0.0] * (size - 1)
    return [round(value / length, _PLACES) for value in sums]


def no_answers() -> Problem:
    """What an endpoint for answers says of the model."""
    told = f"{PREFIX}{MODEL} makes embeddings, not answers: POST {PATH}."
    return invalid_value("model", told)


def _texts(given: object) -> list[str]:
    """The inputs, tokens as words."""
    if given is None:
        raise Refused(missing("input"))
    listed = given if isinstance(given, list) and not _is_tokens(given) else [given]
    texts = [_text(one) for one in listed]
    if not texts or not all(texts):
        told = "'input' must be a text, texts, tokens or lists of tokens, none of them empty."
        raise Refused(invalid_value("input", told))
    return texts


def _text(given: object) -> str:
    """One input; empty for what is none."""
    if isinstance(given, list) and _is_tokens(given):
        return " ".join(map(str, given))
    return given if isinstance(given, str) else ""


def _is_tokens(given: list[Any]) -> bool:
    return bool(given) and all(type(one) is int for one in given)


def _base64(one: list[float]) -> str:
    return b64encode(pack(f"<{len(one)}f", *one)).decode()
