"""`zurelay serve`: one process from its first line to its last."""

import asyncio
import contextlib
import resource
import signal
import time
from collections.abc import Callable, Iterator

import uvloop

from zurelay.app.first_start import ensure_first_key
from zurelay.app.options import ServeOptions, Started
from zurelay.app.process import Process
from zurelay.config.load import load
from zurelay.store.engine import Store, open_store
from zurelay.store.lock import FolderLock
from zurelay.telemetry import logs

_FILES_WANTED = 65_536


def run(options: ServeOptions, announce: Callable[[Started], None]) -> None:
    """Serve until told to stop.

    Args:
        options: the command line's.
        announce: called once when the gateway listens.

    Raises:
        ConfigError: the configuration has faults.
        StoreError: the data folder cannot be used, or another server has it.
        CannotListenError: the address cannot be listened on.
    """
    with made(options) as (process, store):

        def listening() -> None:
            # Not before: a key that is made and never told would be lost.
            announce(process.started(ensure_first_key(store, time.time())))

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(process, listening))


@contextlib.contextmanager
def made(options: ServeOptions) -> Iterator[tuple[Process, Store]]:
    """A process that is yet to start, and its open store; the data folder is its own meanwhile.

    Raises: as `run`.
    """
    settings = load(options.config_path, options.environ, options.data_dir)
    logs.configure(settings.log.level, settings.log.format)
    _raise_file_limit()
    lock = FolderLock(options.data_dir)
    try:
        store = open_store(options.data_dir, settings.storage.url)
        try:
            yield Process(options, settings, store), store
        finally:
            store.close()
    finally:
        lock.release()


async def serve(process: Process, listening: Callable[[], None]) -> None:
    """Start, obey signals, and return when all is over.

    Raises:
        CannotListenError: the address cannot be listened on.
    """
    await process.start()
    loop = asyncio.get_running_loop()
    stops = 0

    def stop(kind: signal.Signals) -> None:
        nonlocal stops
        stops += 1
        process.stop(at_once=stops > 1, drain=kind is signal.SIGTERM)

    loop.add_signal_handler(signal.SIGTERM, stop, signal.SIGTERM)
    loop.add_signal_handler(signal.SIGINT, stop, signal.SIGINT)
    loop.add_signal_handler(signal.SIGHUP, process.reload_soon)
    listening()
    await process.wait()


def _raise_file_limit() -> None:
    """Each stream needs two sockets: take all the system gives."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, _FILES_WANTED)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
