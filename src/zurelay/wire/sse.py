"""Server-sent events: bytes in, events out.

Knows the framing of the WHATWG event-stream format (HTML Standard, section 9.2) and nothing about
JSON, providers or sockets. Lines end at CR LF, LF or CR and at nothing else: `str.splitlines` also
splits at U+2028 and nine more characters, which are legal inside a JSON string.
"""

import msgspec

MAX_LINE = 8 * 1024 * 1024
"""Most bytes of one line, and of one event's data together."""

_BOM = b"\xef\xbb\xbf"
_PLAIN_START = b"data: "


class FrameTooLong(ValueError):  # noqa: N818 - says what happened
    """A line or an event outgrew `MAX_LINE`.

    Attributes:
        frames: the events that were complete before it in the same piece of bytes.
    """

    def __init__(self, frames: "list[Frame]") -> None:
        super().__init__(f"a line or event of the stream is longer than {MAX_LINE} bytes")
        self.frames = frames


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One event.

    Attributes:
        data: its data lines, joined by LF; never holds a CR. A single line stands here byte for
            byte, so `data: ` + data + two LF is the same event again.
        event: its name, empty for the usual one.
    """

    data: bytes
    event: bytes = b""


class FrameReader:
    """Collects bytes and hands out the events they complete.

    The same bytes in any pieces give the same events. Comments, `id` and `retry` are skipped.

    Attributes:
        between: the next byte begins an event: nothing of one has been read.
    """

    __slots__ = (
        "_after_cr",
        "_begun",
        "_data",
        "_event",
        "_head",
        "_rest",
        "_rest_size",
        "_size",
        "between",
    )

    def __init__(self) -> None:
        self.between = False  # not yet: a byte order mark may come
        self._rest: list[bytes] = []  # pieces of a line without its end
        self._rest_size = 0
        self._data: list[bytes] = []  # data lines of the event being read
        self._size = 0
        self._event = b""
        self._head = b""  # what may be part of a byte order mark
        self._begun = False
        self._after_cr = False  # an LF that comes next belongs to the last line's end

    def feed(self, chunk: bytes) -> list[Frame]:
        """The events that `chunk` completes.

        Raises:
            FrameTooLong: the stream cannot be read on.
        """
        if (
            self.between
            and chunk.startswith(_PLAIN_START)
            and chunk.endswith(b"\n\n")
            and b"\r" not in chunk
            and len(chunk) < MAX_LINE
        ):
            return self._whole(chunk)
        frames = self._any(chunk)
        self.between = (
            self._begun
            and not self._after_cr
            and not self._rest
            and not self._data
            and not self._event
        )
        return frames

    def end(self) -> list[Frame]:
        """The event that the end of the bytes leaves open.

        The standard drops it; servers that leave out the last blank line are common, and a cut
        JSON object cannot be mistaken for a whole one.
        """
        line = b"".join(self._rest)
        self._rest, self._rest_size = [], 0
        frames: list[Frame] = []
        if line:
            self._line(line, frames)
        self._line(b"", frames)
        return frames

    def _whole(self, chunk: bytes) -> list[Frame]:
        """Whole events, LF-framed: the usual case, without a look at each line."""
        if chunk.find(b"\n") == len(chunk) - 2:
            return [Frame(chunk[6:-2])]
        frames: list[Frame] = []
        for piece in chunk[:-2].split(b"\n\n"):
            if piece.startswith(_PLAIN_START) and b"\n" not in piece:
                frames.append(Frame(piece[6:]))
            else:
                for line in piece.split(b"\n"):
                    self._line(line, frames)
                self._line(b"", frames)
        return frames

    def _any(self, chunk: bytes) -> list[Frame]:
        if not self._begun:
            chunk = self._head + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._head = chunk
                return []
            self._begun, self._head = True, b""
            chunk = chunk.removeprefix(_BOM)
        if not chunk:
            return []
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        frames: list[Frame] = []
        lines = chunk.splitlines(keepends=True)  # of bytes: at CR, LF and CR LF only
        for line in lines:
            if line[-1] not in b"\r\n":
                self._rest.append(line)
                self._rest_size += len(line)
                if self._rest_size > MAX_LINE:
                    raise FrameTooLong(frames)
                break
            text = line[:-2] if line.endswith(b"\r\n") else line[:-1]
            if self._rest:
                text = b"".join((*self._rest, text))
                self._rest, self._rest_size = [], 0
            self._line(text, frames)
        self._after_cr = bool(lines) and lines[-1].endswith(b"\r")
        return frames

    def _line(self, line: bytes, frames: list[Frame]) -> None:
        if len(line) > MAX_LINE:
            raise FrameTooLong(frames)
        if not line:
            if self._data:
                frames.append(Frame(b"\n".join(self._data), self._event))
                self._data, self._size = [], 0
            self._event = b""
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._size += len(value) + 1
            if self._size > MAX_LINE:
                raise FrameTooLong(frames)
        elif name == b"event":
            self._event = value.removeprefix(b" ")
