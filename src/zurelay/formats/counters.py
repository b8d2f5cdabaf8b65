"""How providers are asked for their own count of a Messages prompt, by the format they speak.

A format that is not here has no endpoint for it.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from zurelay.formats.anthropic import NAME as MESSAGES
from zurelay.formats.anthropic import edit
from zurelay.formats.anthropic.hub import MessagesHubFront
from zurelay.formats.base import Inbound, Outbound, Target
from zurelay.formats.gemini import counting
from zurelay.formats.gemini.back import NAME as GEMINI


class Counter(Protocol):
    """One format's way to count.

    Attributes:
        fetches: what a prompt names by URL is fetched there and counted.
    """

    fetches: bool

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The upstream request; raises Refused where it cannot be written."""
        ...

    def read(self, body: bytes) -> int | None:
        """The count in an answer, None where it holds none."""
        ...


class _Count(msgspec.Struct):
    input_tokens: int


_COUNT = msgspec.json.Decoder(_Count)


class _MessagesCounter:
    fetches = True

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        return edit.write_count(inbound, target)

    def read(self, body: bytes) -> int | None:
        try:
            return _COUNT.decode(body).input_tokens
        except msgspec.DecodeError:
            return None


class _GeminiCounter:
    fetches = False

    def __init__(self) -> None:
        self._front = MessagesHubFront()

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        return counting.write(self._front.request(inbound), target)

    def read(self, body: bytes) -> int | None:
        return counting.read(body)


_COUNTERS: Mapping[str, Counter] = {MESSAGES: _MessagesCounter(), GEMINI: _GeminiCounter()}


def counter(back: str) -> Counter | None:
    """How upstreams of that format count; None if they do not."""
    return _COUNTERS.get(back)
