"""What a page tells of the gateway that shows it: address, names, models.

Pages are written for a gateway at `DOCUMENTED` with the standard names. Knows no Markdown.
"""

import re
from dataclasses import dataclass
from typing import Final

from zurelay.docs.levels import Levels

DOCUMENTED: Final = "http://127.0.0.1:8000"
"""The base URL in the pages as they are written, without `/v1`."""
WIRE: Final = "zurelay"

_HEADER = re.compile(rf"\bx-{WIRE}-(?=[a-z])")
_AUTO = re.compile(rf"\b{WIRE}-auto\b")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is filled in.

    Attributes:
        brand: what the gateway calls itself.
        wire: the word in its header names and in the model id of the smart choice.
        base_url: without `/v1`.
        is_public: the operator says that clients reach it there. Otherwise it is this machine's
            own, and the reader's browser shows the address by which it came.
        example_model: one that it serves.
        levels: the effort levels of the models it serves.
    """

    brand: str
    wire: str
    base_url: str
    example_model: str
    levels: tuple[Levels, ...]
    is_public: bool = True

    def filled(self, text: str) -> str:
        """A page's text, with this gateway's address and names."""
        text = text.replace(DOCUMENTED, self.base_url)
        if self.wire != WIRE:
            text = _HEADER.sub(lambda _: f"x-{self.wire}-", text)
            text = _AUTO.sub(lambda _: f"{self.wire}-auto", text)
        return text
