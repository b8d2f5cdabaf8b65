"""What a supervisor and its workers tell each other, over a pair of sockets.

Each message is four bytes of length and MessagePack. Whose end is closed is gone.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable

import msgspec

_LENGTH = 4
_GATHER_SECONDS = 2.0


class Begin(msgspec.Struct, tag=True):
    """To a worker, first: what it is to do.

    Attributes:
        number: its own, counted from 1; also of its folder.
        workers: how many there are.
        token: what commands on this machine call any of them with.
    """

    number: int
    workers: int
    token: str
    data: str
    config: str | None
    host: str
    port: int
    ballast_mb: int


class Listening(msgspec.Struct, tag=True):
    """From a worker: it listens, and serves that."""

    base_url: str
    models: int
    providers: dict[str, int]
    example_model: str


class Ask(msgspec.Struct, tag=True):
    """To a worker: tell your metrics."""

    id: int


class Told(msgspec.Struct, tag=True):
    """From a worker: its metrics."""

    id: int
    text: bytes


class Gather(msgspec.Struct, tag=True):
    """From a worker: tell me the metrics of the others."""

    id: int


class Gathered(msgspec.Struct, tag=True):
    """To a worker: number of each other one that answered -> its metrics."""

    id: int
    texts: dict[int, bytes]


Message = Begin | Listening | Ask | Told | Gather | Gathered

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Message).decode


def packed(message: Message) -> bytes:
    """The bytes of a message."""
    body = _encode(message)
    return len(body).to_bytes(_LENGTH) + body


async def messages(reader: asyncio.StreamReader) -> AsyncIterator[Message]:
    """Every message until the other end is closed."""
    while True:
        try:
            length = int.from_bytes(await reader.readexactly(_LENGTH))
            body = await reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        yield _decode(body)


def first(end: socket.socket) -> Message:
    """The first message, read before there is an event loop.

    Raises:
        EOFError: the other end is closed.
    """

    def exactly(size: int) -> bytes:
        found = b""
        while len(found) < size:
            piece = end.recv(size - len(found))
            if not piece:
                raise EOFError("the supervisor is gone")
            found += piece
        return found

    return _decode(exactly(int.from_bytes(exactly(_LENGTH))))


class WorkerEnd:
    """A worker's end. Belongs to its event loop from `open` on."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._asked: dict[int, asyncio.Future[dict[int, bytes]]] = {}
        self._ids = 0
        self._listener: asyncio.Task[None] | None = None

    async def open(self, metrics: Callable[[], bytes], alone: Callable[[], None]) -> None:
        """Listen to the supervisor.

        Args:
            metrics: gives this worker's own.
            alone: called when the supervisor is gone.
        """
        reader, self._writer = await asyncio.open_connection(sock=self._end)
        self._listener = asyncio.create_task(self._listen(reader, metrics, alone))

    def tell(self, message: Message) -> None:
        """Send it; one that nobody hears is lost."""
        self._writer.write(packed(message))

    async def gather(self) -> dict[int, bytes]:
        """The metrics of the other workers, as far as they answer in time: number -> text."""
        self._ids += 1
        id_ = self._ids
        answer: asyncio.Future[dict[int, bytes]] = asyncio.get_running_loop().create_future()
        self._asked[id_] = answer
        self.tell(Gather(id_))
        try:
            async with asyncio.timeout(_GATHER_SECONDS):
                return await answer
        except TimeoutError:
            return {}
        finally:
            del self._asked[id_]

    async def close(self) -> None:
        """Hear nothing more."""
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])
            self._writer.close()

    async def _listen(
        self,
        reader: asyncio.StreamReader,
        metrics: Callable[[], bytes],
        alone: Callable[[], None],
    ) -> None:
        async for message in messages(reader):
            if isinstance(message, Ask):
                self.tell(Told(message.id, metrics()))
            elif isinstance(message, Gathered):
                answer = self._asked.get(message.id)
                if answer is not None and not answer.done():
                    answer.set_result(message.texts)
        alone()
