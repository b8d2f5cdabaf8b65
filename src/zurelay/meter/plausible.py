"""Whether a provider's count of an answer can be true, and what stands in where it cannot.

Knows no provider and no price.
"""

from typing import Final

from msgspec.structs import replace

from zurelay.catalogue.model import INPUT_CLASSES, OUTPUT_CLASSES
from zurelay.chat.estimate import tokens
from zurelay.chat.usage import Usage

_FEW: Final = 4096
"""A count may be twice its limit, or so many tokens beyond it: some providers leave thinking out of
the limit, some raise a low one, and they ask for all of it."""

_NO_INPUT: Final = dict.fromkeys(INPUT_CLASSES, 0)
_NO_OUTPUT: Final = dict.fromkeys(OUTPUT_CLASSES, 0)


def believed(
    usage: Usage,
    *,
    prompt: int,
    delivered: int,
    window: int | None,
    limit: int | None,
    thinking_apart: bool = False,
) -> Usage:
    """`usage` itself, or with the estimate in place of the side that cannot be.

    Args:
        usage: the provider's own count.
        prompt: tokens of the prompt, estimated.
        delivered: length of all that was read of the answer, as `chat.estimate.weight` counts.
        window: tokens that prompt or answer can have at most; None if unknown.
        limit: output tokens that were asked for at most, over all choices; None if none was sent.
        thinking_apart: the provider does not count thinking into the limit.
    """
    completion = usage.completion
    counted = completion - (usage.reasoning or 0) if thinking_apart else completion
    bound = None if limit is None else limit + max(limit, _FEW)
    too_long = (bound is not None and counted > bound) or (
        window is not None and completion > window
    )
    if window is not None and usage.prompt > window:
        usage = replace(usage, **{**_NO_INPUT, "input": prompt}, estimated=True)
    if too_long:
        output = {**_NO_OUTPUT, "output": tokens(delivered)}
        usage = replace(usage, **output, reasoning=None, estimated=True)
    return usage
