"""Token counts where nobody counted: before an answer, and for answers that were cut.

No tokenizer: one rule for every model, four bytes of UTF-8 to a token. As rules of thumb English
prose runs at 4 to 4.5 bytes per token, code and JSON at 3 to 3.6, Chinese and Japanese at 3 to
4.5, Russian at 4.5 to 5.5: English comes out a little high, dense code up to a quarter low.
"""

from zurelay.chat.usage import Usage

MEDIA_TOKENS = 1000
"""What a part that is not text counts: a picture of a million pixels, half a page of a PDF."""

_BYTES_PER_TOKEN = 4
_PER_PROMPT = 8


def weight(text: str) -> int:
    """Length of `text` for estimates: its UTF-8 bytes, which fit tokens better than characters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def tokens(length: int) -> int:
    """Tokens of text of `length` as `weight` counts; rounded up."""
    return -(-length // _BYTES_PER_TOKEN)


def estimated(prompt: int, delivered: int) -> Usage:
    """What an answer used that nobody counted.

    `prompt`: its tokens; `delivered`: length of all that was read of it, as `weight` counts.
    """
    return Usage(input=prompt, output=tokens(delivered), estimated=True)


def prompt_tokens(text_length: int, media_count: int = 0) -> int:
    """Tokens of a prompt with `text_length` of text and `media_count` other parts."""
    return _PER_PROMPT + tokens(text_length) + media_count * MEDIA_TOKENS
