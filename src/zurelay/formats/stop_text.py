"""Cuts an answer's text at stop sequences, for upstreams that do not. Knows no format."""

from collections.abc import Sequence


class StopCutter:
    """Takes text in pieces and gives it back up to the first stop sequence.

    Text waits only while it may be the start of a sequence. The sequence that is complete first
    wins, so any cutting of the text gives the same.

    Attributes:
        stopped: a sequence was found; nothing more goes on.
        matched: which one.
    """

    __slots__ = ("_held", "_stops", "matched", "stopped")

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.stopped = False
        self.matched: str | None = None

    def push(self, text: str) -> str:
        """More text; returns what may go on. After `stopped` nothing does."""
        if self.stopped:
            return ""
        text = self._held + text
        found = [
            (start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0
        ]
        if found:
            end, start = min(found)
            self.stopped = True
            self.matched = text[start:end]
            self._held = ""
            return text[:start]
        keep = self._may_begin(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """The answer is over: what was held back."""
        held, self._held = self._held, ""
        return held

    def _may_begin(self, text: str) -> int:
        """Length of the longest end of `text` that begins a stop sequence."""
        longest = min(max((len(stop) for stop in self._stops), default=1) - 1, len(text))
        for length in range(longest, 0, -1):
            end = text[len(text) - length :]
            if any(stop.startswith(end) for stop in self._stops):
                return length
        return 0
