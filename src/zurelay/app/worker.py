"""One of several processes that serve one address; its supervisor starts it and tells it how.

Run as `python -m zurelay.app.worker N`, where N is the open file of its end of their channel. It
ends when it is told to, and when the supervisor is gone.
"""

import asyncio
import socket
import sys
from pathlib import Path

import structlog
import uvloop

from zurelay.app.channel import Begin, Listening, WorkerEnd, first
from zurelay.app.options import CannotListenError, Crew, ServeOptions
from zurelay.app.process import Process
from zurelay.app.run import made, serve
from zurelay.config.faults import ConfigError
from zurelay.live.journal import JournalError
from zurelay.live.valkey import SharedStateError
from zurelay.store.errors import StoreError
from zurelay.telemetry import logs
from zurelay.telemetry.merging import merged

log = structlog.get_logger("zurelay.app")

LABEL = "worker"
"""Tells the workers apart in a scrape."""


def main(arguments: list[str]) -> int:
    """Serve until told to stop; gives the exit code."""
    logs.configure()  # until the configuration says how
    end = socket.socket(fileno=int(arguments[0]))
    begin = first(end)
    if not isinstance(begin, Begin):
        raise TypeError(begin)
    channel = WorkerEnd(end)

    async def scrape() -> bytes:
        own = process.metrics()
        texts = {str(begin.number): own}
        texts |= {str(number): text for number, text in (await channel.gather()).items()}
        return merged(dict(sorted(texts.items())), LABEL)

    options = ServeOptions(
        data_dir=Path(begin.data),
        config_path=None if begin.config is None else Path(begin.config),
        host=begin.host,
        port=begin.port,
        ballast_mb=begin.ballast_mb,
        crew=Crew(begin.workers, begin.token, scrape),
    )
    try:
        with (
            made(options) as (process, _),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(process, channel))
    except (CannotListenError, ConfigError, JournalError, SharedStateError, StoreError) as error:
        log.error("worker cannot go on", worker=begin.number, why=str(error))  # noqa: TRY400
        return 1
    return 0


async def _serve(process: Process, channel: WorkerEnd) -> None:
    def listening() -> None:
        started = process.started(None)
        channel.tell(
            Listening(
                started.base_url, started.models, dict(started.providers), started.example_model
            )
        )

    def alone() -> None:
        log.error("the supervisor is gone; this worker ends")
        process.stop(drain=False)

    await channel.open(process.metrics, alone)
    try:
        await serve(process, listening)
    finally:
        await channel.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
