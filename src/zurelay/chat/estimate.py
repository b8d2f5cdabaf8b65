"""Token counts where nobody counted: before an answer, and for answers that were cut.

No tokenizer: one rule for every model, from how many characters of which class a text has. Real
tokenizers disagree among themselves by up to three times on the same text, so none would be right
for all; the classes' weights lie in the middle of seven (OpenAI's o200k and cl100k, Claude 2,
Gemini, Llama 3, DeepSeek 3, Qwen 3; measured 2026-11-29). `docs/operate/pricing.md` has the errors.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from zurelay.chat.usage import Usage

MEDIA_TOKENS: Final = 1000
"""What a part that is not text counts: a picture of a million pixels, a short PDF."""

_PDF_TOKENS: Final = 150_000
"""The most that a PDF counts."""

PER_MESSAGE: Final = 16
"""Length of what stands between two messages, as `measure` counts."""

_BYTES_PER_TOKEN: Final = 4
_PER_PROMPT: Final = 4

_WHOLE: Final = 4096
"""Longest prompt, in characters, of which all is looked at."""
_SAMPLES: Final = 32
_SAMPLE: Final = _WHOLE // _SAMPLES

_LOWER: Final = bytes(range(0x61, 0x7B))
_UPPER: Final = bytes(range(0x41, 0x5B))
_DIGITS: Final = b"0123456789"
_BLANK: Final = b" \t\r"
_ASCII: Final = bytes(range(0x80))
_CONTINUED: Final = bytes(range(0x80, 0xC0))
_SIXTEENTHS: Final = 4
"""Sixteenths of a token in a quarter."""

# Sixteenths of a token for each: a letter in words costs a quarter, one where small and capital
# letters mix much more, as in base64. Single blanks belong to the word after them.
_OF_LOWER: Final = 4
_OF_MIXED: Final = 10
_OF_UPPER: Final = 6
_OF_DIGIT: Final = 13
_OF_MARK: Final = 9
_OF_BLANKS: Final = 4
_OF_LINE: Final = 3
_OF_OTHERS: Final = (
    (bytes(range(0xC2, 0xCA)), 10),  # Latin letters with marks
    (bytes(range(0xCA, 0xD0)), 10),  # Greek
    (bytes(range(0xD0, 0xD5)), 6),  # Cyrillic
    (bytes(range(0xD5, 0xE0)), 8),  # Hebrew, Arabic
    (b"\xe0", 10),  # Indic, Thai
    (b"\xe1\xe2", 13),  # more Latin, Georgian; dashes, signs
    (bytes(range(0xE3, 0xEA)), 12),  # kana, Chinese
    (bytes(range(0xEA, 0xF0)), 15),  # Hangul, full-width forms
    (bytes(range(0xF0, 0x100)), 27),  # emoji and what is rare
)
"""First bytes of characters beyond ASCII, and what such a character costs."""


def weight(text: str) -> int:
    """Length of an answer's text, in its UTF-8 bytes: what is cheap to count as it streams."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def measure(texts: Sequence[str]) -> int:
    """Length of a prompt's texts together, in quarters of tokens.

    Of a long prompt, samples from all of it are measured: none takes longer than 0.2 ms.
    """
    size = sum(map(len, texts))
    looked_at = "".join(texts if size <= _WHOLE else _samples(texts, size // _SAMPLES))
    found = _sixteenths(looked_at.encode("utf-8", "surrogatepass"))
    if len(looked_at) < size:
        found = -(-found * size // len(looked_at))
    return -(-found // _SIXTEENTHS)


def measure_pdf(size: int) -> int:
    """What a PDF of `size` bytes in base64 counts beyond the tokens of any media.

    A token for 40 bytes: a page of print has 7 to a token, a scanned one some 130.
    """
    most = min(size // 10, _PDF_TOKENS * _BYTES_PER_TOKEN)
    return max(most - MEDIA_TOKENS * _BYTES_PER_TOKEN, 0)


def tokens(length: int) -> int:
    """Tokens of text of `length`, as `weight` or `measure` counts; rounded up."""
    return -(-length // _BYTES_PER_TOKEN)


def estimated(prompt: int, delivered: int) -> Usage:
    """What an answer used that nobody counted.

    `prompt`: its tokens; `delivered`: length of all that was read of it, as `weight` counts.
    """
    return Usage(input=prompt, output=tokens(delivered), estimated=True)


def prompt_tokens(text_length: int, media_count: int = 0) -> int:
    """Tokens of a prompt with `text_length` of text, measured, and `media_count` other parts."""
    return _PER_PROMPT + tokens(text_length) + media_count * MEDIA_TOKENS


def _samples(texts: Sequence[str], step: int) -> Iterator[str]:
    """A piece of the texts every `step` characters; shorter where one of them ends."""
    at = 0
    for text in texts:
        while at < len(text):
            yield text[at : at + _SAMPLE]
            at += step
        at -= len(text)


def _sixteenths(text: bytes) -> int:
    """Sixteenths of tokens of UTF-8, by taking out one class of characters after another."""
    rest = text.translate(None, _LOWER)
    lower = len(text) - len(rest)
    rest = rest.translate(None, _BLANK)
    size = len(rest)
    rest = rest.translate(None, _UPPER)
    upper = size - len(rest)
    size = len(rest)
    rest = rest.translate(None, _DIGITS)
    digits = size - len(rest)
    lines = rest.count(b"\n")
    mixed = min(upper, lower)
    total = (
        _OF_LOWER * lower
        + _OF_MIXED * mixed
        + _OF_UPPER * (upper - mixed)
        + _OF_DIGIT * digits
        + _OF_BLANKS * text.count(b"  ")
        + _OF_LINE * lines
    )
    if not rest.isascii():
        others = rest.translate(None, _ASCII)
        rest = rest[: len(rest) - len(others)]
        others = others.translate(None, _CONTINUED)
        for first, cost in _OF_OTHERS:
            if not others:
                break
            size = len(others)
            others = others.translate(None, first)
            total += cost * (size - len(others))
    return total + _OF_MARK * (len(rest) - lines)
