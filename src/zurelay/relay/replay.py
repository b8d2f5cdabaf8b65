"""One answer for several callers: recorded as it is made, read by each at its own pace.

A `Recording` stands where the caller's connection would: the run writes into it, and it hands the
bytes to every caller attached to it, and once more to whoever comes later. Works on the calls of
`Sink`; each caller's connection frames the bytes in its own way. Knows nothing of keys, bodies,
ciphers or clocks.

Back-pressure: while the answer fits into its share of memory the run is never paused; a caller
that does not keep up reads from the recording when it can. An answer that outgrows its share is
taken off the record: nobody can join it any more, what all have read is dropped, and the slowest
caller sets the pace of the run.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from zurelay.relay.ports import Headers, Sink

BLOCK = 64 * 1024
"""Bytes of an answer that are packed together; about what a transport buffers for one caller."""
MOST_HELD = 8 * 1024 * 1024
"""Packed bytes of one answer that are kept."""
DETACHED_SECONDS = 600.0
"""How long a run goes on without a caller."""


class Codec(Protocol):
    """How blocks lie in memory."""

    def pack(self, data: bytes) -> bytes:
        """`data` as it is kept."""
        ...

    def unpack(self, packed: bytes) -> bytes:
        """What `pack` was given."""
        ...


class Handle(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Let it not happen."""
        ...


Later = Callable[[float, Callable[[], None]], Handle]
"""Calls the second argument after that many seconds; `loop.call_later` is one."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an answer; `streams` False for one that comes whole."""

    status: int
    headers: Headers
    streams: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """A finished answer: its head, its packed blocks, where each begins, and its whole length."""

    head: Head
    blocks: Sequence[bytes]
    starts: Sequence[int]
    size: int


class Tape:
    """Bytes in the order they came, by offset; whole blocks are packed, the last one is plain.

    Attributes:
        size: bytes that came so far.
        held: bytes of memory they take.
    """

    __slots__ = ("_blocks", "_codec", "_starts", "_tail", "_tail_size", "held", "size")

    def __init__(self, codec: Codec, kept: Kept | None = None) -> None:
        self._codec = codec
        self._blocks: list[bytes] = list(kept.blocks) if kept is not None else []
        self._starts: list[int] = list(kept.starts) if kept is not None else []
        self._tail: list[bytes] = []
        self._tail_size = 0
        self.size = kept.size if kept is not None else 0
        self.held = sum(map(len, self._blocks))

    def append(self, data: bytes) -> None:
        """More bytes."""
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        self.size += len(data)
        self.held += len(data)
        if self._tail_size >= BLOCK:
            self.pack()

    def pack(self) -> None:
        """Pack what is still plain."""
        if not self._tail:
            return
        packed = self._codec.pack(b"".join(self._tail))
        self._starts.append(self.size - self._tail_size)
        self._blocks.append(packed)
        self.held += len(packed) - self._tail_size
        self._tail = []
        self._tail_size = 0

    def read(self, offset: int) -> bytes:
        """From `offset` to the end of its block; empty at the end of all."""
        tail = self.size - self._tail_size
        if offset >= tail:
            return b"".join(self._tail)[offset - tail :]
        at = bisect_right(self._starts, offset) - 1
        return self._codec.unpack(self._blocks[at])[offset - self._starts[at] :]

    def clear(self) -> None:
        """Forget the bytes; offsets go on."""
        self._blocks, self._starts, self._tail = [], [], []
        self._tail_size = 0
        self.held = 0

    def kept(self, head: Head) -> Kept:
        """All of it, packed."""
        self.pack()
        return Kept(head, tuple(self._blocks), tuple(self._starts), self.size)


@dataclass(slots=True)
class _Answer:
    """What readers read from."""

    tape: Tape
    head: Head | None = None
    ended: bool = False


class _Reader:
    """One caller. `live`: it has everything so far and takes what comes as it comes."""

    __slots__ = ("_answer", "_changed", "_offset", "_sink", "live", "over")

    def __init__(
        self, answer: _Answer, sink: Sink, changed: "Callable[[_Reader], None] | None" = None
    ) -> None:
        self._answer = answer
        self._sink = sink
        self._changed = changed
        self._offset = 0
        self.live = True
        self.over = False

    def begin(self) -> None:
        """Hand over what is there."""
        self._sink.listen(self._finish, self._set_paused)
        head = self._answer.head
        if head is None:
            return
        first = self._answer.tape.read(0)
        if not head.streams:
            self._sink.answer(head.status, head.headers, first + self._rest(len(first)))
            self._finish()
            return
        self.live = False
        self._offset = len(first)
        self._sink.open(head.status, head.headers, first)
        self._catch_up()

    def answer(self, head: Head, body: bytes) -> None:
        """The whole answer is here."""
        self._sink.answer(head.status, head.headers, body)
        self._finish()

    def open(self, head: Head, first: bytes) -> None:
        """The stream begins."""
        self._sink.open(head.status, head.headers, first)
        if self._sink.paused:
            self._set_paused(True)

    def write(self, data: bytes) -> None:
        """More of the stream, which is on the tape already."""
        if self.live:
            self._sink.write(data)

    def close(self, last: bytes) -> None:
        """The end of the stream, which is on the tape already."""
        if self.live:
            self._sink.close(last)
            self._finish()

    def abort(self) -> None:
        """There will be no end."""
        self._sink.abort()
        self._finish()

    def _rest(self, offset: int) -> bytes:
        tape = self._answer.tape
        parts = []
        while data := tape.read(offset):
            parts.append(data)
            offset += len(data)
        return b"".join(parts)

    def _catch_up(self) -> None:
        tape = self._answer.tape
        while not (self.live or self.over or self._sink.paused):
            data = tape.read(self._offset)
            self._offset += len(data)
            if self._offset < tape.size:
                self._sink.write(data)
            elif self._answer.ended:
                self._sink.close(data)
                self._finish()
            else:
                self.live = True
                if data:
                    self._sink.write(data)
                self._tell()

    def _set_paused(self, paused: bool) -> None:
        if self.over:
            return
        if not paused:
            self._catch_up()
        elif self.live and self._answer.head is not None:
            self.live = False
            self._offset = self._answer.tape.size
            self._tell()

    def _finish(self) -> None:
        if not self.over:
            self.over = True
            self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed(self)


def replay(kept: Kept, codec: Codec, sink: Sink) -> None:
    """Give a kept answer to one more caller, as fast as it reads."""
    _Reader(_Answer(Tape(codec, kept), kept.head, ended=True), sink).begin()


class Recording:
    """The sink of a run whose answer may be asked for again.

    Attributes:
        paused: see `Sink`.
        joinable: everything so far is on record, so that one more caller can have it.
        given_up: the run was told that nobody waits for it; it will have no answer.
    """

    def __init__(
        self,
        codec: Codec,
        later: Later,
        grew: Callable[[int], bool],
        most_held: int = MOST_HELD,
    ) -> None:
        """Wait for callers and for the run.

        Args:
            codec: how blocks lie in memory.
            later: for the end of a run that nobody waits for.
            grew: told by how many bytes the memory of this answer grew or shrank; False says that
                there is no room.
            most_held: bytes of memory one answer may take.
        """
        self.paused = False
        self.joinable = True
        self.given_up = False
        self._answer = _Answer(Tape(codec))
        self._readers: list[_Reader] = []
        self._later = later
        self._grew = grew
        self._most_held = most_held
        self._charged = 0
        self._settled = False
        self._limit: Handle | None = None
        self._gone: Callable[[], None] = _nothing
        self._on_paused: Callable[[bool], None] = _ignore

    # Callers.

    def attach(self, sink: Sink) -> None:
        """Give a caller everything so far, then what comes. Leaving only detaches it."""
        self._wait_on()
        reader = _Reader(self._answer, sink, self._changed)
        self._readers.append(reader)
        reader.begin()

    def settle(self, *, keep: bool) -> Kept | None:
        """The run is over: the whole answer, if it is to be kept and all of it is on record.

        Callers that are still reading go on to its end; one whose answer has no end is cut off.
        """
        self._wait_on()
        if not self._answer.ended:
            self.abort()
            keep = False
        kept = None
        if keep and self.joinable and self._answer.head is not None:
            kept = self._answer.tape.kept(self._answer.head)
            self._account()
        self._settled = True
        return kept

    @property
    def held(self) -> int:
        """Bytes of memory that `grew` was told of."""
        return self._charged

    # The sink of the run.

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        """See `Sink`; `gone` is called when the run has been without a caller for too long."""
        self._gone = gone
        self._on_paused = paused

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """See `Sink`."""
        head = self._begin(status, headers, streams=False)
        self._record(body)
        self._answer.ended = True
        for reader in tuple(self._readers):
            reader.answer(head, body)

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        """See `Sink`."""
        head = self._begin(status, headers, streams=True)
        self._record(first)
        for reader in tuple(self._readers):
            reader.open(head, first)

    def write(self, data: bytes) -> None:
        """See `Sink`."""
        self._record(data)
        for reader in tuple(self._readers):
            reader.write(data)

    def close(self, last: bytes = b"") -> None:
        """See `Sink`."""
        self._record(last)
        self._answer.ended = True
        for reader in tuple(self._readers):
            reader.close(last)

    def abort(self) -> None:
        """See `Sink`."""
        self._answer.ended = True
        self.joinable = False
        for reader in tuple(self._readers):
            reader.abort()

    # Our own.

    def _begin(self, status: int, headers: Headers, *, streams: bool) -> Head:
        head = self._answer.head = Head(status, tuple(headers), streams)
        return head

    def _record(self, data: bytes) -> None:
        tape = self._answer.tape
        tape.append(data)
        if not (self.joinable or self.paused):
            tape.clear()
        room = self._account()
        if self.joinable and (not room or tape.held > self._most_held):
            self._off_the_record()

    def _account(self) -> bool:
        """Tell how the memory of the tape changed; whether there is room for it."""
        change = self._answer.tape.held - self._charged
        self._charged += change
        return self._settled or self._grew(change)

    def _off_the_record(self) -> None:
        self.joinable = False
        if self._readers:
            self._keep_pace()
        else:
            self._alone()

    def _changed(self, reader: _Reader) -> None:
        if reader.over:
            self._readers.remove(reader)
            if not self._readers and not self._answer.ended:
                self._alone()
        if not self.joinable:
            self._keep_pace()

    def _keep_pace(self) -> None:
        """Off the record, the run waits for every caller, and what all have is dropped."""
        behind = any(not reader.live for reader in self._readers)
        if not behind and not self._answer.ended:
            self._answer.tape.clear()
            self._account()
        if behind != self.paused:
            self.paused = behind
            self._on_paused(behind)

    def _alone(self) -> None:
        """Nobody is left. An answer that nobody could ask for again has no reason to go on."""
        self._wait_on()
        self._limit = self._later(DETACHED_SECONDS if self.joinable else 0.0, self._give_up)

    def _wait_on(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._limit = None
        self.given_up = True
        self._gone()


def _nothing() -> None:
    pass


def _ignore(_paused: bool) -> None:
    pass
