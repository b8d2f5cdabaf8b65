"""Parts thinking from text where a model writes `<think>...</think>` before its answer."""

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkTags:
    """Takes content in pieces and gives back (thinking, text) pairs.

    Only a tag at the very start counts, blank space aside. Newlines right after a tag go with it.
    Any cutting of the content gives the same joined thinking and text.
    """

    __slots__ = ("_held", "_state")

    def __init__(self) -> None:
        self._state = "start"  # start, opened, thinking, closed, text
        self._held = ""

    @property
    def over(self) -> bool:
        """Nothing but text can come any more."""
        return self._state == "text"

    def push(self, content: str) -> tuple[str, str]:
        """More content; returns the thinking and the text in it."""
        thinking = ""
        content, self._held = self._held + content, ""
        if self._state == "start":
            content = self._start(content)
        if self._state == "opened":
            content = content.lstrip("\r\n")
            if content:
                self._state = "thinking"
        if self._state == "thinking":
            thinking, content = self._thinking(content)
        if self._state == "closed":
            content = content.lstrip("\r\n")
            if content:
                self._state = "text"
        return thinking, content

    def flush(self) -> tuple[str, str]:
        """The content is over: what was held back."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "thinking" else ("", held)

    def _start(self, content: str) -> str:
        begun = content.lstrip()
        if begun.startswith(_OPEN):
            self._state = "opened"
            return begun.removeprefix(_OPEN)
        if _OPEN.startswith(begun):
            self._held = content
            return ""
        self._state = "text"
        return content

    def _thinking(self, content: str) -> tuple[str, str]:
        thinking, tag, rest = content.partition(_CLOSE)
        if tag:
            self._state = "closed"
            return thinking, rest
        for length in range(min(len(_CLOSE) - 1, len(content)), 0, -1):
            if content.endswith(_CLOSE[:length]):
                self._held = content[len(content) - length :]
                return content[: len(content) - length], ""
        return content, ""
