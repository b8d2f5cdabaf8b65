"""`zurelay serve --workers N`: starts the workers, keeps them up, relays signals, ends with them.

It takes no connection itself. Each worker is a process with a data folder of its own inside the
server's, `worker-1` and so on, and is a node of its own to the database and to shared state.
"""

import asyncio
import contextlib
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from zurelay.access.keys import RANDOM_BYTES
from zurelay.access.tokens import make_token
from zurelay.app.channel import (
    Ask,
    Begin,
    Gather,
    Gathered,
    Listening,
    Message,
    Told,
    messages,
    packed,
)
from zurelay.app.first_start import ensure_first_key
from zurelay.app.listening import local_url, reserve
from zurelay.app.local_token import forget, keep
from zurelay.app.options import ServeOptions, Started, WorkersError
from zurelay.app.spool import deliver
from zurelay.config.load import load
from zurelay.config.settings import Settings
from zurelay.store.engine import Store, open_store
from zurelay.store.lock import FolderLock, is_locked
from zurelay.telemetry import logs

log = structlog.get_logger("zurelay.app")

TRIES = 5
"""So many ends in a row, each soon after the start, and nothing is left to try."""
STEADY_SECONDS = 10.0
"""A worker that lived so long had started well."""
BACKOFF_SECONDS = (0.1, 0.5, 2.0, 5.0)
_ASK_SECONDS = 1.0
_LATE_SECONDS = 30.0
"""How long after its own bounds a worker may take to end before it is killed."""


def supervise(options: ServeOptions, workers: int, announce: Callable[[Started], None]) -> None:
    """Serve with several processes until told to stop.

    Args:
        options: the command line's.
        workers: how many, at least 2.
        announce: called once when all of them listen.

    Raises:
        ConfigError: the configuration has faults.
        StoreError: database or data folder cannot be used, or another server has the folder.
        JournalError: what an earlier process left is damaged.
        CannotListenError: the address cannot be listened on.
        WorkersError: the store is none that processes can share, or workers do not stay up.
    """
    settings = load(options.config_path, options.environ, options.data_dir)
    check(settings)
    logs.configure(settings.log.level, settings.log.format)
    lock = FolderLock(options.data_dir)
    try:
        host = options.host or settings.server.host
        port = settings.server.port if options.port is None else options.port
        with reserve(host, port) as address:
            store = open_store(options.data_dir, settings.storage.url)
            try:
                _deliver(options.data_dir, workers, store)
                first_key = ensure_first_key(store, time.time())
            finally:
                store.close()
            supervisor = Supervisor(options, settings, workers, host, address.getsockname()[1])
            try:
                asyncio.run(supervisor.run(lambda: announce(supervisor.started(first_key))))
            finally:
                forget(options.data_dir)
    finally:
        lock.release()


def check(settings: Settings) -> None:
    """Raises WorkersError unless several processes can work on what the settings name."""
    lacking = [
        f'{key} = "{example}"'
        for key, value, example in (
            ("url", settings.storage.url, "postgresql://USER:PASSWORD@HOST/DATABASE"),
            ("valkey_url", settings.storage.valkey_url, "valkey://HOST:6379/0"),
        )
        if not value
    ]
    if lacking:
        raise WorkersError(
            "several workers share PostgreSQL (storage.url) and Valkey (storage.valkey_url); set in"
            f" [storage]: {', '.join(lacking)}"
        )


def _deliver(data: Path, workers: int, store: Store) -> None:
    """Bring into the log what processes left that will not be started again."""
    names = {f"worker-{number}" for number in range(1, workers + 1)}
    brought = deliver(data, store)  # of one that served alone
    for folder in sorted(data.glob("worker-*")):
        if folder.name not in names and not is_locked(folder):
            lock = FolderLock(folder)
            try:
                brought += deliver(folder, store)
            finally:
                lock.release()
    if brought:
        log.warning("records of earlier processes delivered", records=brought)


class _Worker:
    """One place among the workers, and the process that has it now."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: asyncio.subprocess.Process | None = None
        self.writer: asyncio.StreamWriter | None = None
        self.listening: Listening | None = None

    def tell(self, message: Message) -> None:
        if self.writer is not None and not self.writer.is_closing():
            self.writer.write(packed(message))

    def signal(self, kind: signal.Signals) -> None:
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(kind)


class _Asked:
    """What workers answered so far, and whether it is all."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self.texts: dict[int, bytes] = {}
        self.full = asyncio.Event()
        self._look()

    def add(self, number: int, text: bytes) -> None:
        self.texts[number] = text
        self._look()

    def _look(self) -> None:
        if len(self.texts) >= self._wanted:
            self.full.set()


class Supervisor:
    """The workers of one address. Belongs to one event loop."""

    def __init__(
        self, options: ServeOptions, settings: Settings, workers: int, host: str, port: int
    ) -> None:
        self._options = options
        self._settings = settings
        self._host = host
        self._port = port
        self._token = make_token(secrets.token_bytes(RANDOM_BYTES))
        self._workers = [_Worker(place) for place in range(1, workers + 1)]
        self._any_listened = False
        self._all_listened = False
        self._ending = asyncio.Event()  # when all is to end
        self._asked: dict[int, _Asked] = {}
        self._ids = 0
        self._jobs: set[asyncio.Task[None]] = set()

    async def run(self, listening: Callable[[], None]) -> None:
        """Return when every worker has ended.

        Args:
            listening: called once, when all of them listen.

        Raises:
            WorkersError: they do not stay up.
        """
        self._listening = listening
        loop = asyncio.get_running_loop()
        for kind in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(kind, self._stop, kind)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        keeping = [asyncio.create_task(self._keep(worker)) for worker in self._workers]
        try:
            await asyncio.gather(*keeping)
        except BaseException:
            self._stop(signal.SIGINT)
            await asyncio.gather(*keeping, return_exceptions=True)
            raise

    def started(self, first_key: str | None) -> Started:
        """Facts for the banner, once all listen."""
        told = self._workers[0].listening
        if told is None:
            raise RuntimeError("no worker listens")
        return Started(
            settings=self._settings,
            base_url=told.base_url,
            first_key=first_key,
            models=told.models,
            providers=told.providers,
            example_model=told.example_model,
            workers=len(self._workers),
        )

    # Signals.

    def _stop(self, kind: signal.Signals) -> None:
        self._ending.set()
        for worker in self._workers:
            worker.signal(kind)

    def _reload(self) -> None:
        for worker in self._workers:
            if worker.listening is not None:  # one that starts reads the new file anyway
                worker.signal(signal.SIGHUP)

    # Keeping them up.

    async def _keep(self, worker: _Worker) -> None:
        """One process after the other in that place, until told to stop."""
        loop = asyncio.get_running_loop()
        short = 0
        while True:
            began = loop.time()
            ended = await self._live(worker)
            if self._ending.is_set():
                return
            short = 0 if loop.time() - began >= STEADY_SECONDS else short + 1
            if not self._any_listened:
                raise WorkersError(
                    f"worker {worker.number} {ended} before it had started; its log says why"
                )
            if short >= TRIES:
                raise WorkersError(
                    f"worker {worker.number} {ended} {short} times soon after its start; its log"
                    " says why"
                )
            pause = BACKOFF_SECONDS[min(max(short, 1), len(BACKOFF_SECONDS)) - 1]
            log.error("worker ended", worker=worker.number, how=ended, starts_again_in_s=pause)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ending.wait()
                    return

    async def _live(self, worker: _Worker) -> str:
        """Start a process and see it through; gives how it ended."""
        ours, theirs = socket.socketpair()
        with theirs:
            worker.process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "zurelay.app.worker",
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                # A terminal's own signals reach the supervisor alone, which relays them.
                process_group=0,
            )
        reader, worker.writer = await asyncio.open_connection(sock=ours)
        config = self._options.config_path
        worker.tell(
            Begin(
                number=worker.number,
                workers=len(self._workers),
                token=self._token,
                data=str(self._folder(worker.number)),
                config=None if config is None else str(config),
                host=self._host,
                port=self._port,
                ballast_mb=self._options.ballast_mb,
            )
        )
        if self._ending.is_set():  # told while it was being made
            worker.signal(signal.SIGTERM)
        hearing = asyncio.create_task(self._hear(worker, reader))
        try:
            code = await self._ended(process)
        finally:
            hearing.cancel()
            await asyncio.wait([hearing])
            worker.writer.close()
            worker.writer = worker.listening = None
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"

    def _folder(self, number: int) -> Path:
        """The worker's own; another one while an earlier server's worker ends in it."""
        while True:
            folder = self._options.data_dir / f"worker-{number}"
            if not is_locked(folder):
                return folder
            number += len(self._workers)

    async def _ended(self, process: asyncio.subprocess.Process) -> int:
        """The exit code; a worker that does not end when it was told to is killed."""
        ending = asyncio.create_task(process.wait())
        waking = asyncio.create_task(self._ending.wait())
        await asyncio.wait([ending, waking], return_when=asyncio.FIRST_COMPLETED)
        waking.cancel()
        server = self._settings.server
        bound = server.drain_delay_s + server.shutdown_grace_s + _LATE_SECONDS
        try:
            async with asyncio.timeout(bound):
                return await asyncio.shield(ending)
        except TimeoutError:
            log.error("worker does not end", pid=process.pid, then="it is killed")  # noqa: TRY400
            process.kill()
            return await ending

    # What they say.

    async def _hear(self, worker: _Worker, reader: asyncio.StreamReader) -> None:
        async for message in messages(reader):
            match message:
                case Listening():
                    worker.listening = message
                    self._listens()
                case Gather():
                    self._spawn(worker, message.id)
                case Told():
                    self._told(worker, message)
                case _:
                    pass

    def _listens(self) -> None:
        self._any_listened = True
        if self._all_listened or any(one.listening is None for one in self._workers):
            return
        self._all_listened = True
        keep(self._options.data_dir, self._token, local_url(self._host, self._port))
        self._listening()

    def _spawn(self, worker: _Worker, id_: int) -> None:
        job = asyncio.get_running_loop().create_task(self._gather(worker, id_))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _gather(self, worker: _Worker, id_: int) -> None:
        """Ask the others; who does not answer is left out."""
        others = [one for one in self._workers if one is not worker and one.listening is not None]
        self._ids += 1
        ask = self._ids
        self._asked[ask] = asked = _Asked(len(others))
        for one in others:
            one.tell(Ask(ask))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ASK_SECONDS):
                await asked.full.wait()
        del self._asked[ask]
        worker.tell(Gathered(id_, asked.texts))

    def _told(self, worker: _Worker, told: Told) -> None:
        asked = self._asked.get(told.id)
        if asked is not None:
            asked.add(worker.number, told.text)
