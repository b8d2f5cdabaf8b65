"""The HTTP server: uvicorn with our connections, our signals and our way to stop.

Knows how to listen and how to stop; nothing of what is served.
"""

import asyncio
import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import uvicorn

from zurelay.api.connection import EdgeConnection, Service

SWEEP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where and how to listen. Times in seconds.

    Attributes:
        grace_s: how long running requests may finish after a stop was asked for.
        keep_alive_idle_s: how long an idle connection is kept.
        write_stall_s: how long a caller may not read before it counts as gone.
    """

    host: str
    port: int
    grace_s: float
    keep_alive_idle_s: float
    write_stall_s: float


class Server(uvicorn.Server):
    """One listening server. `stop()` begins the end; `serve()` returns when all is answered."""

    def __init__(self, options: ServerOptions, service: Service, pages: Any) -> None:
        connection = type(
            "Connection",
            (EdgeConnection,),
            {
                "service": service,
                "keep_alive_idle_s": options.keep_alive_idle_s,
                "write_stall_s": options.write_stall_s,
            },
        )
        super().__init__(
            uvicorn.Config(
                pages,
                host=options.host,
                port=options.port,
                http=connection,
                ws="none",
                interface="asgi3",
                lifespan="off",
                access_log=False,
                log_config=None,
                proxy_headers=False,
                server_header=False,
                backlog=4096,
                timeout_graceful_shutdown=int(options.grace_s) + 5,
            )
        )
        self.listening = asyncio.Event()
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def port(self) -> int:
        """The port in use, once started."""
        port: int = self.servers[0].sockets[0].getsockname()[1]
        return port

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and begin to sweep idle and stalled connections."""
        await super().startup(sockets)
        self._sweep()
        self.listening.set()

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop listening and wait for running requests."""
        await super().shutdown(sockets)
        if self._sweeper is not None:
            self._sweeper.cancel()

    def stop(self, *, at_once: bool = False) -> None:
        """Begin the end; with `at_once`, do not wait for running requests."""
        self.should_exit = True
        self.force_exit = self.force_exit or at_once

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals belong to the composition root.

        uvicorn raises them again at the end, so that nothing after it would run.
        """
        yield

    def _log_started_message(self, listeners: Any) -> None:
        """The banner says where we listen."""

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in list(self.server_state.connections):
            if isinstance(connection, EdgeConnection):
                connection.sweep(now)
        self._sweeper = loop.call_later(SWEEP_SECONDS, self._sweep)
