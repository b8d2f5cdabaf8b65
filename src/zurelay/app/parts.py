"""The parts of a gateway, put together; and the snapshot that a configuration comes to."""

import asyncio
import os
import random
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog

from zurelay import __version__
from zurelay.api.addresses import networks
from zurelay.api.bodies import decode
from zurelay.api.core import Parts
from zurelay.api.offload import Reader
from zurelay.api.snapshot import Snapshot
from zurelay.app.contents import sealer_of
from zurelay.app.readiness import readiness
from zurelay.app.sharing import Sharing, common_secret, sharing
from zurelay.chat.redact import redact
from zurelay.config.accounts import SANDBOX, providers
from zurelay.config.settings import Settings
from zurelay.formats.registry import exchange
from zurelay.formats.transcript.whose import end_user
from zurelay.live.bounds import Bounds, KeyDefaults
from zurelay.live.contents import Contents
from zurelay.live.idempotency import Idempotency
from zurelay.live.ids import Ids
from zurelay.live.journal import Journal
from zurelay.live.keys import KeyRing
from zurelay.live.ledger import JournalLedger
from zurelay.live.tokens import TokenRing
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health
from zurelay.plan.retries import RetryBudget
from zurelay.plan.route import RoutingTable
from zurelay.providers.base import Provider
from zurelay.relay.deadlines import FarDeadlines
from zurelay.relay.job import Services
from zurelay.relay.timing import Timing
from zurelay.sandbox.upstream import SandboxUpstream
from zurelay.store.archive import generation
from zurelay.store.content import StoredContents
from zurelay.store.engine import Store
from zurelay.store.key_source import StoredKeys, StoredTokens
from zurelay.store.log import StoredLog
from zurelay.store.wallet_source import StoredWallets
from zurelay.telemetry.metrics import Metrics
from zurelay.telemetry.requests import RequestObserver
from zurelay.upstream.base import Client
from zurelay.upstream.client import HttpClient
from zurelay.upstream.credentials import Credentials
from zurelay.upstream.download import Downloader
from zurelay.upstream.proxies import Proxies

log = structlog.get_logger("zurelay.app")

_MB = 1024 * 1024


@dataclass(slots=True)
class Assembly:
    """What was put together, for whoever has to end it."""

    parts: Parts
    client: HttpClient
    credentials: Credentials
    downloader: Downloader
    metrics: Metrics
    keys: KeyRing
    ledger: JournalLedger
    shared: Sharing
    contents: Contents
    stored_contents: StoredContents
    node: str
    """What the store knows this process by."""

    def use_content_keys(self, settings: Settings) -> None:
        """Encrypt messages by these settings from now on; without a key none are stored."""
        self.stored_contents.sealer = sealer_of(settings.log)
        self.contents.enabled = self.stored_contents.sealer is not None

    async def close(self) -> None:
        """End in the order in which nothing is lost: records first."""
        self.parts.reader.close()
        await self.ledger.close()
        await self.contents.close()
        await self.shared.close()
        await self.keys.close()
        await self.parts.tokens.close()
        await self.downloader.aclose()
        await self.credentials.aclose()
        await self.client.aclose()


async def assemble(settings: Settings, store: Store, ballast_mb: int, workers: int = 1) -> Assembly:
    """Make every part; reads the keys and replays the journal.

    Args:
        settings: checked.
        store: open.
        ballast_mb: disk space kept back for settling on a full disk.
        workers: processes at this address, this one included.

    Raises:
        JournalError: the journal is damaged.
        SharedStateError: the server for shared state cannot be used.
    """
    metrics = Metrics(__version__)
    health = Health()
    shared = sharing(settings.storage.valkey_url, settings.storage.url, workers)
    affinity = Affinity()
    shared.join(health, affinity)
    await shared.start()
    metrics.watch_shared(shared.health)
    # Only SQLite in the data folder is as near, and as much this process's own, as the journal.
    direct = store.kind != "sqlite"
    power_safe = settings.storage.power_safe or direct
    journal = Journal(settings.data_dir, power_safe=power_safe, ballast_mb=ballast_mb)
    ledger = JournalLedger(
        journal,
        StoredLog(store),
        StoredWallets(store, journal.id, alone=not direct),
        power_safe=power_safe,
        direct=direct,
        observe=metrics.settled,
    )
    await ledger.start()
    keys = KeyRing(StoredKeys(store))
    await keys.start()
    stored_contents = StoredContents(store)
    contents = Contents(stored_contents, decode, end_user)
    metrics.watch_contents(contents.health)
    client = HttpClient(proxies=Proxies(dict(os.environ)))
    downloader = Downloader()
    sandbox = SandboxUpstream()
    credentials = Credentials(client, time.time, _no_token)

    def client_of(provider: Provider) -> Client:
        if provider.service_account is not None:
            return credentials.client(provider.service_account)
        return sandbox if provider.base_url.startswith("sandbox:") else client

    parts = Parts(
        services=Services(
            ledger=ledger,
            health=health,
            affinity=affinity,
            retries=RetryBudget(),
            observer=RequestObserver(metrics),
            exchange=exchange,
            client=client_of,
            downloads=downloader,
            wall=time.time,
            jitter=random.random,
            far=FarDeadlines(asyncio.get_running_loop()),
        ),
        keys=keys,
        ledger=ledger,
        metrics=metrics,
        ids=Ids(),
        reader=Reader(),
        idempotency=Idempotency(
            asyncio.get_running_loop().call_later,
            secret=None
            if shared.answers is None
            else common_secret(settings.storage.url, await asyncio.to_thread(generation, store)),
        ),
        wall=time.time,
        ready=lambda: readiness(ledger, keys, shared.health()),
        tokens=TokenRing(StoredTokens(store)),
        limits=shared.limits,
        answers=shared.answers,
        bounds=Bounds(),
        contents=contents,
    )
    made = Assembly(
        parts,
        client,
        credentials,
        downloader,
        metrics,
        keys,
        ledger,
        shared,
        contents,
        stored_contents,
        journal.id,
    )
    made.use_content_keys(settings)
    return made


def _no_token(reason: str) -> None:
    log.warning("no access token", reason=reason)


def snapshot(settings: Settings, table: RoutingTable) -> Snapshot:
    """The settings as the data plane uses them."""
    routing, streaming = settings.routing, settings.streaming
    hidden = _hidden(settings)
    return Snapshot(
        table=table,
        timing=Timing(
            early_open_s=streaming.early_open_s,
            keep_alive_s=streaming.keep_alive_s,
            start_deadline_s=routing.start_deadline_s,
            start_deadline_high_effort_s=routing.start_deadline_high_effort_s,
            idle_deadline_s=routing.idle_deadline_s,
            idle_deadline_high_effort_s=routing.idle_deadline_high_effort_s,
            request_deadline_s=routing.request_deadline_s,
            stream_max_s=settings.server.stream_max_s,
            attempts=routing.attempts,
            hedge=routing.hedge,
        ),
        connect_deadline_s=routing.connect_deadline_s,
        wire=settings.brand.wire,
        brand=settings.brand.name,
        max_body=settings.server.max_body_mb * _MB,
        max_inflight=settings.server.max_inflight_mb * _MB,
        redact=lambda text: redact(text, hidden),
        config_hash=settings.config_hash,
        max_streams=settings.server.max_streams,
        trusted_proxies=networks(settings.server.trusted_proxies),
        expose_routes=settings.server.expose_routes,
        prepaid=settings.billing.prepaid,
        output_estimate=settings.billing.output_estimate or None,
        zone=settings.billing.zone,
        key_limits=KeyDefaults(
            settings.limits.concurrency or None, settings.limits.rpm, settings.limits.tpm
        ),
    )


def _hidden(settings: Settings) -> frozenset[str]:
    """What must never be shown of a provider: credentials, addresses, hosts."""
    hidden: set[str] = set()
    for one in providers(settings):
        if one.kind.name == SANDBOX:
            continue
        hidden.update(one.api_keys)
        if one.aws is not None:
            keys = (one.aws.access_key_id, one.aws.secret_access_key, one.aws.session_token)
            hidden.update(key for key in keys if key)
        if one.service_account is not None:
            hidden.update((one.service_account.email, one.service_account.token_uri))
        hidden.update(value for _, value in one.headers)
        hidden.add(one.base_url)
        host = urlsplit(one.base_url).netloc
        hidden.update((host, host.rpartition("@")[2].partition(":")[0]))
    return frozenset(hidden)
