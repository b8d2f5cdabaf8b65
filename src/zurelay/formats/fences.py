"""Takes Markdown's code fence off text that should be JSON alone. Knows no format."""

import re

_OPENING = re.compile(r"\s*```[A-Za-z]{0,10}[ \t]*\r?\n")
_MAYBE_OPENING = re.compile(r"\s*(?:`{0,3}|```[A-Za-z]{0,10}[ \t]*\r?)")
_CLOSING = "```"


class FenceStripper:
    """Takes text in pieces and gives it back without a fence around it.

    Text waits only while it may be part of a fence. Any cutting of the text gives the same.
    """

    __slots__ = ("_fenced", "_held", "_started")

    def __init__(self) -> None:
        self._held = ""
        self._started = False
        self._fenced = False

    def push(self, text: str) -> str:
        """More text; returns what may go on."""
        self._held += text
        if not self._started and not self._start():
            return ""
        if not self._fenced:
            out, self._held = self._held, ""
            return out
        # The end may be the closing fence: blanks and backticks wait for what follows.
        kept = self._held.rstrip("` \t\r\n")
        self._held = self._held[len(kept) :]
        return kept

    def flush(self) -> str:
        """The text is over: what was held back and is no fence."""
        held, self._held = self._held, ""
        if self._fenced and held.strip() == _CLOSING:
            return ""
        return held

    def _start(self) -> bool:
        """Whether the beginning is known: an opening fence, or none."""
        opening = _OPENING.match(self._held)
        if opening:
            self._held = self._held[opening.end() :]
            self._fenced = True
        elif _MAYBE_OPENING.fullmatch(self._held):
            return False
        self._started = True
        return True


def stripped(text: str) -> str:
    """`text` without a fence around it."""
    stripper = FenceStripper()
    return stripper.push(text) + stripper.flush()
