"""Tokens of one answer, as leaf classes that never overlap.

Providers count in different ways (Anthropic's input excludes cache reads, OpenAI's includes them;
xAI leaves thinking out of the output). Each format's reader converts into this one form, so that
no class is ever charged twice. Nothing here knows prices.
"""

from typing import Final

import msgspec

STANDARD: Final = "standard"
"""The service tier whose price is the price."""


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Token counts; every class is a leaf, all integers >= 0.

    Attributes:
        input: input tokens at the normal price: no cache reads or writes, no audio, no images.
        cached_input: input tokens read from the provider's prompt cache.
        cache_write: input tokens written to a short-lived cache (5 or 30 minutes).
        cache_write_long: input tokens written to a long-lived cache (1 or 12 hours).
        audio_input: input tokens of audio.
        image_input: input tokens of images, where the provider counts them apart.
        output: output tokens, thinking included, audio and images excluded.
        audio_output: output tokens of audio.
        image_output: output tokens of images.
        reasoning: how many of `output` were thinking; None if the provider did not say.
        estimated: whether any class was estimated by us.
        web_searches: how often the provider searched the web, which it charges by the search.
        tier: the service tier that the provider says it used; None where it says nothing.
    """

    input: int = 0
    cached_input: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    audio_input: int = 0
    output: int = 0
    audio_output: int = 0
    reasoning: int | None = None
    estimated: bool = False
    image_input: int = 0
    image_output: int = 0
    web_searches: int = 0
    tier: str | None = None

    @property
    def classes(self) -> tuple[int, ...]:
        """Tokens of each class that is charged by itself: of the input, then of the output.

        In the order of the catalogue's `INPUT_CLASSES` and `OUTPUT_CLASSES`.
        """
        return (
            self.input,
            self.cached_input,
            self.cache_write,
            self.cache_write_long,
            self.audio_input,
            self.image_input,
            self.output,
            self.audio_output,
            self.image_output,
        )

    @property
    def prompt(self) -> int:
        """All input tokens, cache reads and writes included."""
        return (
            self.input
            + self.cached_input
            + self.cache_write
            + self.cache_write_long
            + self.audio_input
            + self.image_input
        )

    @property
    def completion(self) -> int:
        """All output tokens, thinking included."""
        return self.output + self.audio_output + self.image_output

    @property
    def total(self) -> int:
        """`prompt` and `completion` together."""
        return self.prompt + self.completion
