"""A running gateway: its parts, its background work, its reload and its end."""

import asyncio
import contextlib
import gc
import socket
import sys
import time
from collections.abc import Coroutine, Mapping
from typing import Any

import structlog

from zurelay import __version__
from zurelay.admin import application as admin
from zurelay.admin.parts import AdminParts
from zurelay.api.addresses import client_address
from zurelay.api.core import Core
from zurelay.api.gateway import Gateway
from zurelay.api.inside import ask
from zurelay.api.pages import pages
from zurelay.api.server import Server, ServerOptions
from zurelay.api.snapshot import Snapshot
from zurelay.app import model_lists, seeing
from zurelay.app.alarm import Alarm
from zurelay.app.housekeeping import Housekeeping
from zurelay.app.in_force import in_force
from zurelay.app.listening import listen, local_url
from zurelay.app.local_token import forget, let_in
from zurelay.app.options import ServeOptions, Started
from zurelay.app.parts import Assembly, assemble, snapshot
from zurelay.app.post import Post
from zurelay.app.prices import StoredPrices
from zurelay.app.reporting import Reporting
from zurelay.app.stops import StoredStops
from zurelay.app.watch import Machine, Watch
from zurelay.config.accounts import providers
from zurelay.config.faults import ConfigError
from zurelay.config.load import load, load_catalogue
from zurelay.config.reload import diff
from zurelay.config.routing import build_table
from zurelay.config.settings import Settings
from zurelay.console.application import Console
from zurelay.console.callers import session_actor
from zurelay.console.oidc import OidcClient, Provider
from zurelay.console.parts import ConsoleParts
from zurelay.console.throttle import Throttle
from zurelay.docs.application import Docs
from zurelay.docs.parts import DocsParts, Status
from zurelay.office.desk import Desk, Letterhead
from zurelay.office.failures import Failures
from zurelay.office.watching import Sighting
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.telemetry.looplag import LoopLag

log = structlog.get_logger("zurelay.app")

_WATCH_SECONDS = 1.0
_PRICES_SECONDS = 0.5
_LISTS_SECONDS = 30.0
_DAY = 86_400


class Process:
    """One gateway over an open store; `start`, `wait`, and `stop` from a signal or a test."""

    def __init__(self, options: ServeOptions, settings: Settings, store: Store) -> None:
        self._options = options
        self._settings = settings
        self._store = store
        self._lists: Mapping[str, tuple[str, ...]] = {}
        self._prices = StoredPrices(store)
        self._stops = StoredStops(store)
        self._housekeeping = Housekeeping(store, self._keep_s)
        self._stamps: tuple[float, ...] = ()
        self._jobs: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._routes = seeing.Routes()
        self._since = time.time()
        self.port = 0

    async def start(self) -> None:
        """Listen.

        Raises:
            CannotListenError: the address cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        server = self._settings.server
        host = self._options.host or server.host
        port = server.port if self._options.port is None else self._options.port
        crew = self._options.crew
        self._socket = listen(host, port, shared=crew is not None)
        self.port = self._socket.getsockname()[1]
        self._host = host
        self._parts: Assembly = await assemble(
            self._settings,
            self._store,
            self._options.ballast_mb,
            1 if crew is None else crew.workers,
        )
        self._lists = await model_lists.ask_all(
            self._parts.client, providers(self._settings), self._lists
        )
        await asyncio.to_thread(self._prices.changed)
        await asyncio.to_thread(self._stops.changed)
        self._gateway = gateway = Gateway(
            Core(self._parts.parts, self._snapshot(self._settings), loop)
        )
        self._parts.metrics.watch_inflight_bytes(lambda: gateway.inflight)
        self._parts.metrics.watch_store(self._parts.ledger.store_health)
        self._post = Post(
            self._store,
            lambda: self._settings.smtp,
            lambda: self._housekeeping.leading,
            redact=self._redact,
            count=self._parts.metrics.notice_tried,
        )
        self._parts.metrics.watch_outbox(lambda: self._post.waiting)
        self._in_force()
        options = ServerOptions(
            host=host,
            port=self.port,
            grace_s=server.shutdown_grace_s,
            keep_alive_idle_s=server.keep_alive_idle_s,
            write_stall_s=server.write_stall_s,
        )
        console = self._console_parts()
        self._watch = Watch(
            console.desk,
            Machine(socket.gethostname(), self._options.data_dir),
            lambda: self._settings.alerts,
            self._seen,
            lambda: self._housekeeping.leading,
            Alarm(
                console.desk,
                self._name(),
                lambda: self._settings.alerts,
                lambda: self._settings.smtp,
            ),
        )
        self._parts.metrics.watch_alerts(lambda: self._watch.open)
        self._reporting = None if self._store.kind == "sqlite" else self._reports(console)
        docs = Docs(self._docs_parts(console))
        routes = [admin.mounted(self._admin_parts(console)), Console(console), docs]
        self._server = Server(options, self._gateway, pages(routes))
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        await self._server.listening.wait()
        if crew is None:
            let_in(self._options.data_dir, self._parts.parts.tokens, self._local_url())
        else:
            self._parts.parts.tokens.own(crew.token)
            self._parts.parts.scrape = crew.scrape
        self._stamps = self._file_stamps()
        self._lag = LoopLag(loop, self._parts.metrics.loop_lag)
        self._lag.start()
        for job in (
            self._watch_files(),
            self._watch_prices(),
            self._refresh_lists(),
            self._housekeeping.run(),
            self._post.run(),
            self._watch.run(),
        ):
            self._spawn(job)
        if self._reporting is not None:
            self._spawn(self._reporting.run())
        # What was made so far lives as long as the process: the collector need not look at it.
        gc.collect()
        gc.freeze()
        # The thread that moves log rows must not hold up the loop for the usual 5 ms.
        sys.setswitchinterval(0.001)
        # A request makes and drops some hundred objects without cycles: look for these seldom.
        gc.set_threshold(50_000, 20, 50)

    async def wait(self) -> None:
        """Return when every request is answered and the store has all of it."""
        try:
            await self._serving
        finally:
            self._lag.stop()
            for job in self._jobs:
                job.cancel()
            await asyncio.gather(*self._jobs, return_exceptions=True)
            await self._watch.close()
            if self._reporting is not None:
                await self._reporting.close()
            await self._housekeeping.close()
            await self._post.close()
            if self._options.crew is None:
                forget(self._options.data_dir)
            self._end_runs()  # those that went on without a caller; nobody could fetch them now
            self._gateway.core.refusals.flush()
            await self._parts.close()

    def stop(self, *, at_once: bool = False, drain: bool = True) -> None:
        """Begin the end: refuse no one for the drain delay, then let running requests finish.

        Args:
            at_once: end running streams with an error event now.
            drain: keep accepting for the drain delay while `/readyz` says no.
        """
        self._gateway.core.draining = True
        if at_once:
            self._end_runs()
            self._server.stop()
            return
        if not self._stopping:
            self._stopping = True
            self._spawn(self._drain(self._settings.server.drain_delay_s if drain else 0.0))

    def metrics(self) -> bytes:
        """What a scrape of this process alone gives."""
        return self._parts.metrics.render()

    def reload_soon(self) -> None:
        """Read the configuration again."""
        self._spawn(self.reload())

    async def reload(self) -> None:
        """Put a changed configuration in force for new requests; a faulty one changes nothing."""
        try:
            settings = load(
                self._options.config_path, self._options.environ, self._options.data_dir
            )
            lists = await model_lists.ask_all(self._parts.client, providers(settings), self._lists)
            new = self._snapshot(settings, lists)
        except ConfigError as error:
            self._parts.metrics.reload_failed()
            told = [str(fault) for fault in error.faults]
            log.warning("configuration not reloaded, the old one stays in force", faults=told)
            return
        changes = diff(self._settings, settings)
        self._settings = settings
        self._lists = lists
        self._gateway.replace(new)
        self._parts.use_content_keys(settings)
        self._in_force()
        log.info("configuration reloaded", changes=[str(change) for change in changes])

    def started(self, first_key: str | None) -> Started:
        """Facts for the banner."""
        table = self._gateway.core.snapshot.table
        reach = {one.name: 0 for one in providers(self._settings)}
        for served in table.models.values():
            for name in {route.provider.name for route in served.routes}:
                reach[name] += 1
        return Started(
            settings=self._settings,
            base_url=self._base_url(),
            first_key=first_key,
            models=len(table.models),
            providers=reach,
            example_model=self._example_model(),
        )

    # Our own.

    def _snapshot(
        self, settings: Settings, lists: Mapping[str, tuple[str, ...]] | None = None
    ) -> Snapshot:
        table = build_table(
            settings,
            load_catalogue(settings),
            self._lists if lists is None else lists,
            self._prices.current,
            self._stops.current,
        )
        return snapshot(settings, table)

    def _in_force(self) -> None:
        snapshot = self._gateway.core.snapshot
        self._parts.metrics.config_in_force(snapshot.config_hash, snapshot.table.models)

    def _base_url(self) -> str:
        return self._settings.server.public_url.rstrip("/") or self._local_url()

    def _local_url(self) -> str:
        """Where this machine reaches it."""
        return local_url(self._host, self.port)

    def _example_model(self) -> str:
        models = self._gateway.core.snapshot.table.models
        if "sandbox/echo" in models:
            return "sandbox/echo"
        answering = (id_ for id_, one in models.items() if one.model.mode != "embeddings")
        return next(answering, "MODEL")

    def _console_parts(self) -> ConsoleParts:
        parts, core = self._parts.parts, self._gateway.core
        desk = Desk(
            self._store,
            prepaid=lambda: self._settings.billing.prepaid,
            zone=lambda: self._settings.billing.zone,
            sealer=lambda: self._parts.stored_contents.sealer,
            models=lambda: core.snapshot.table.models,
            providers=lambda: {one.name for one in providers(self._settings)},
            letters=self._letters,
            routes=lambda: core.snapshot.table.route_ids,
        )
        return ConsoleParts(
            desk=desk,
            health=parts.services.health,
            table=lambda: core.snapshot.table,
            redact=self._redact,
            now=core.loop.time,
            wall=parts.wall,
            brand=lambda: self._settings.brand.name,
            base_url=self._base_url,
            public_url=lambda: self._settings.server.public_url,
            support_email=lambda: self._settings.brand.support_email,
            request_id=parts.ids.request,
            address=lambda peer, forwarded: client_address(
                peer, forwarded, core.snapshot.trusted_proxies
            ),
            example_model=self._example_model,
            throttle=Throttle(time.monotonic, Failures(desk)),
            oidc=OidcClient(self._oidc, self._parts.client.fetch, parts.wall),
            ask=lambda *asked: ask(core, *asked),
            settings=lambda: in_force(self._settings),
            host=socket.gethostname(),
            process=self._parts.node,
            name=self._name(),
        )

    def _reports(self, console: ConsoleParts) -> Reporting:
        """Tells the processes that share the store."""
        return Reporting(
            self._store,
            (console.process, console.name),
            console.table,
            console.health,
            lambda: self._gateway.core.snapshot.redact,
        )

    def _name(self) -> str:
        """What operators know this node by."""
        return f"{socket.gethostname()}:{self._options.data_dir.name}"

    def _seen(self) -> list[Sighting]:
        """What this node knows of routes, models and itself; on the event loop."""
        core, alerts = self._gateway.core, self._settings.alerts
        table, parts = core.snapshot.table, self._parts.parts
        return [
            *self._routes.see(table, parts.services.health, core.loop.time(), alerts.route_down_s),
            *seeing.models(table, parts.wall(), alerts, prepaid=self._settings.billing.prepaid),
            *seeing.node(self._name(), parts.ready(), self._parts.ledger.store_health(), alerts),
        ]

    def _letters(self) -> Letterhead | None:
        """What mails say; None where none are sent."""
        if not self._settings.smtp.host:
            return None
        brand = self._settings.brand
        return Letterhead(self._base_url(), brand.name, brand.support_email)

    def _oidc(self) -> Provider | None:
        found = self._settings.oidc
        if not found.issuer:
            return None
        return Provider(
            found.issuer,
            found.client_id,
            found.client_secret,
            found.name,
            found.require_verified,
        )

    def _admin_parts(self, console: ConsoleParts) -> AdminParts:
        return AdminParts(
            desk=console.desk,
            tokens=self._parts.parts.tokens,
            health=console.health,
            table=console.table,
            redact=console.redact,
            now=console.now,
            wall=console.wall,
            owner=lambda: self._settings.brand.wire,
            request_id=console.request_id,
            session=lambda request: session_actor(console, request),
            process=console.process,
            name=console.name,
        )

    def _redact(self, text: str) -> str:
        """By the settings in force at the time."""
        return self._gateway.core.snapshot.redact(text)

    def _status(self) -> Status:
        return Status(
            version=__version__,
            draining=self._gateway.core.draining,
            models=len(self._gateway.core.snapshot.table.models),
            providers=len(providers(self._settings)),
        )

    def _docs_parts(self, console: ConsoleParts) -> DocsParts:
        return DocsParts(
            table=console.table,
            brand=console.brand,
            wire=lambda: self._settings.brand.wire,
            base_url=console.base_url,
            public_url=console.public_url,
            example_model=console.example_model,
            status=self._status,
        )

    async def _drain(self, delay: float) -> None:
        await asyncio.sleep(delay)
        self._server.stop()
        await asyncio.sleep(self._settings.server.shutdown_grace_s)
        self._end_runs()

    def _end_runs(self) -> None:
        self._gateway.core.end_runs()

    def _spawn(self, job: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._job_done)

    def _job_done(self, task: "asyncio.Task[None]") -> None:
        self._jobs.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background work failed", exc_info=error)

    async def _watch_files(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            stamps = self._file_stamps()
            if stamps != self._stamps:
                self._stamps = stamps
                await self.reload()

    def _file_stamps(self) -> tuple[float, ...]:
        """Times of change of every file the configuration was read from, links followed."""
        stamps = []
        for path in self._settings.sources:
            with contextlib.suppress(OSError):
                found = path.stat()
                stamps.append(found.st_mtime_ns + found.st_ino)
        return tuple(stamps)

    async def _refresh_lists(self) -> None:
        while True:
            await asyncio.sleep(_LISTS_SECONDS)
            lists = await model_lists.ask_all(
                self._parts.client, providers(self._settings), self._lists
            )
            if lists != self._lists:
                self._lists = lists
                self._gateway.replace(self._snapshot(self._settings))
                self._in_force()
                log.info("model lists changed", providers=sorted(lists))

    async def _watch_prices(self) -> None:
        while True:
            await asyncio.sleep(_PRICES_SECONDS)
            try:
                prices = await asyncio.to_thread(self._prices.changed)
                stops = await asyncio.to_thread(self._stops.changed)
            except StoreError:
                continue  # those in memory go on counting
            if prices or stops:
                self._gateway.replace(self._snapshot(self._settings))
                log.info("prices changed" if prices else "stops changed")

    def _keep_s(self) -> float | None:
        """How long log entries are kept, by the settings in force."""
        days = self._settings.log.retention_days
        return days * _DAY if days else None
