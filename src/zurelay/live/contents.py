"""Messages of keys that have them stored: taken down as they pass, written when all is over.

A `Capture` stands between a run and its caller and keeps what goes by. At the end of the request it
goes into a queue that a thread packs, encrypts and writes, so that no answer waits for it. What
finds no room is given up and counted. Knows no format and no cipher.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import msgspec
import structlog
import zstandard

from zurelay.access.keys import Key
from zurelay.chat.left_out import without_files
from zurelay.live.ports import ContentStore
from zurelay.meter.content import Content, Stored, expires_at
from zurelay.meter.record import RequestRecord
from zurelay.relay.ports import Headers, Sink
from zurelay.telemetry.metrics import ContentHealth

ROOM: Final = 64 * 1024 * 1024
"""Bytes of messages that are held in memory at most."""
MOST_PLAIN: Final = 16 * 1024 * 1024
"""Bytes that are kept of a request without its files, or of an answer; streams repeat much."""
MOST_PACKED: Final = 1024 * 1024
"""Bytes that a request, or its answer, may have once compressed."""
BATCH: Final = 20
"""Rows in one transaction."""

_DELAY_S: Final = 0.2
_RETRY_S: Final = 1.0
_log = structlog.get_logger("zurelay.contents")

Opener = Callable[[bytes, str, int], bytes]
"""A body without its content encoding; the last argument is the most it may come to."""

Whose = Callable[[str, bytes], str | None]
"""The end user that a body in some format names; of those that nobody read it alone tells."""


class _Waiting(NamedTuple):
    """One that is to be written; see `Contents.put`."""

    stored: Stored
    encoding: str
    size: int
    unread: bool


class Contents:
    """What is to be stored. Belongs to one event loop; writes from a thread of its own."""

    def __init__(
        self,
        store: ContentStore,
        opener: Opener,
        whose: Whose,
        *,
        most_body: int = ROOM,
        room: int = ROOM,
    ) -> None:
        """Make one that holds nothing.

        Args:
            store: where it ends up; called from a thread.
            opener: takes content encodings off, in that thread.
            whose: finds the end user in a body, in that thread.
            most_body: bytes that a body may have without its encoding.
            room: bytes that are held at most.
        """
        self._store = store
        self._opener = opener
        self._whose = whose
        self._most_body = most_body
        self._room = room
        self._thread: ThreadPoolExecutor | None = None
        self._queue: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._failing = False
        self.enabled = False
        self.held = 0
        self.stored = 0
        self.dropped = 0

    def begin(self, key: Key, front: str, body: bytes, encoding: str) -> "Capture | None":
        """Where a request of that key is taken down; None if nothing of it is stored."""
        if key.store_days is None:
            return None
        if not self.enabled:
            self.dropped += 1
            return None
        return Capture(self, key.store_days, front, body, encoding)

    def take(self, size: int) -> bool:
        """Whether there is room for so many bytes more; they are held then."""
        if self.held + size > self._room:
            return False
        self.held += size
        return True

    def put(self, stored: Stored, encoding: str, size: int, *, unread: bool) -> None:
        """Write it soon; `size` bytes that are held for it are let go then.

        `unread`: nothing is known of the body but its bytes.
        """
        self._queue.append(_Waiting(stored, encoding, size, unread))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def give_up(self, size: int) -> None:
        """It is not stored; so many bytes were held for it."""
        self.held -= size
        self.dropped += 1

    def health(self) -> ContentHealth:
        """How it goes, for a scrape."""
        return ContentHealth(self.stored, self.dropped, self.held, len(self._queue))

    async def close(self) -> None:
        """Write what waits, once more if the store is away; no request may be under way."""
        self._closing.set()
        if self._writing is not None:
            await self._writing
        if self._thread is not None:
            self._thread.shutdown()

    async def _write(self) -> None:
        """Until the queue is empty."""
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "contents")
        await self._wait(_DELAY_S)
        while self._queue:
            batch = self._queue[:BATCH]
            try:
                written = await loop.run_in_executor(self._thread, self._write_batch, batch)
            except Exception as error:  # noqa: BLE001 - whatever ails the store, requests go on
                if not self._failing:
                    _log.error("messages_not_stored", error=str(error))
                self._failing = True
                if not self._closing.is_set():
                    await self._wait(_RETRY_S)
                    continue
                batch, written = self._queue[:], 0
            else:
                self._failing = False
            del self._queue[: len(batch)]
            self.held -= sum(one.size for one in batch)
            self.stored += written
            self.dropped += len(batch) - written
        self._writing = None

    async def _wait(self, seconds: float) -> None:
        """So long, or until it closes."""
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return

    def _write_batch(self, batch: list[_Waiting]) -> int:
        """In the thread; gives how many were written."""
        rows = []
        for one in batch:
            packed = self._packed(one)
            if packed is not None:
                rows.append(packed)
                time.sleep(0)  # whoever serves requests goes first
        self._store.add(rows)
        return len(rows)

    def _packed(self, one: _Waiting) -> tuple[Stored, bytes] | None:
        stored, content, user = one.stored, one.stored.content, one.stored.user
        try:
            body = content.body
            if one.encoding:
                body = self._opener(body, one.encoding, self._most_body)
        except Exception:  # noqa: BLE001 - whatever a caller sent that cannot be opened
            body = b""
        body, body_cut = _fitting(without_files(body))
        if one.unread and user is None:
            user = self._whose(content.front, body)
        answer, answer_cut = _fitting(without_files(content.answer))
        fitted = Content(
            content.front,
            body,
            answer,
            content.stream,
            content.ended,
            body_cut,
            answer_cut or content.answer_cut,
        )
        made = msgspec.structs.replace(stored, user=user, content=fitted)
        try:
            return made, self._store.seal(made)
        except LookupError:
            return None


class Capture:
    """One request that is taken down; a `Sink` before the caller's once `between` was called."""

    __slots__ = (
        "_answer",
        "_body",
        "_contents",
        "_cut",
        "_days",
        "_encoding",
        "_ended",
        "_front",
        "_held",
        "_over",
        "_sink",
        "_size",
        "_stream",
    )

    def __init__(
        self, contents: Contents, days: int, front: str, body: bytes, encoding: str
    ) -> None:
        self._contents = contents
        self._days = days
        self._front = front
        self._body = body
        self._encoding = encoding
        self._answer: list[bytes] = []
        self._size = 0  # of the answer
        self._held = 0
        self._stream = self._ended = self._cut = self._over = False
        self._sink: Sink = _NOBODY

    def between(self, sink: Sink) -> Sink:
        """What a run writes into so that both get it."""
        self._sink = sink
        return self

    def refused(self, record: RequestRecord, body: bytes) -> None:
        """The request was answered with a problem before it was relayed."""
        self._answer = []
        self._keep(body)
        self._ended = True
        self.end(record)

    def end(self, record: RequestRecord) -> None:
        """The request is over; once."""
        if self._over:
            return
        self._over = True
        size = len(self._body)
        if not self._contents.take(size):
            self._contents.give_up(self._held)
            return
        content = Content(
            self._front,
            self._body,
            b"".join(self._answer),
            stream=self._stream,
            ended=self._ended,
            answer_cut=self._cut,
        )
        stored = Stored(
            record.id,
            record.created,
            record.account,
            record.key,
            record.user,
            expires_at(record.created, self._days),
            content,
        )
        size += self._held
        self._contents.put(stored, self._encoding, size, unread=not record.model)
        self._answer = []

    # The sink of the run.

    @property
    def paused(self) -> bool:
        """See `Sink`."""
        return self._sink.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._sink.paused = paused

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        """See `Sink`."""
        self._sink.listen(gone, paused)

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """See `Sink`."""
        self._sink.answer(status, headers, body)
        self._keep(body)
        self._ended = True

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        """See `Sink`."""
        self._sink.open(status, headers, first)
        self._stream = True
        self._keep(first)

    def write(self, data: bytes) -> None:
        """See `Sink`."""
        self._sink.write(data)
        self._keep(data)

    def close(self, last: bytes = b"") -> None:
        """See `Sink`."""
        self._sink.close(last)
        self._keep(last)
        self._ended = True

    def abort(self) -> None:
        """See `Sink`."""
        self._sink.abort()

    def _keep(self, data: bytes) -> None:
        size = len(data)
        if self._cut or self._over or not size:
            return
        if self._size + size > MOST_PLAIN or not self._contents.take(size):
            self._cut = True
            return
        self._size += size
        self._held += size
        self._answer.append(data)


class _Nobody:
    """The sink of a capture that stands before none."""

    paused = False

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        pass

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        pass

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        pass

    def write(self, data: bytes) -> None:
        pass

    def close(self, last: bytes = b"") -> None:
        pass

    def abort(self) -> None:
        pass


_NOBODY: Final = _Nobody()


def _fitting(data: bytes) -> tuple[bytes, bool]:
    """As much of its beginning as is stored, and whether that is not all."""
    data, cut = data[:MOST_PLAIN], len(data) > MOST_PLAIN
    while len(data) > MOST_PACKED:
        packed = len(zstandard.ZstdCompressor(level=1).compress(data))
        if packed <= MOST_PACKED:
            break
        data = data[: max(MOST_PACKED, len(data) * MOST_PACKED * 9 // (packed * 10))]
        cut = True
    return data, cut
