"""A cluster in motion: nodes, balancer, database, shared state and callers, and what is done to them.

Everything that is drawn comes from one seed. Knows neither figures nor who reads them.
"""

import asyncio
import contextlib
import random
import secrets
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection

from tests.cluster.balancer import Balancer
from tests.cluster.callers import Asked, Caller, Customer
from tests.cluster.judge import (
    Times,
    Verdict,
    below_zero,
    judge_answers,
    judge_log,
    judge_money,
    judge_repeats,
    judge_rest,
    read_rows,
)
from tests.cluster.nodes import CONFIG, PROVIDER_KEY, Nodes
from tests.cluster.upstream import Provider
from tests.servers import PostgreSQL
from tests.valkey_server import ValkeyServer
from zurelay.access.accounts import Account, Budget
from zurelay.access.keys import RANDOM_BYTES, Key, hash_key, last4, make_key
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import balance_of
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.keys import add_key
from zurelay.store.terms import add_account
from zurelay.store.wallets import account_balance, add_available
from zurelay.telemetry.looplag import LoopLag
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

SAMPLE_S = 0.1
BUSY_S = 2.0
"""A machine that is this late proves nothing."""
FIRST = ("node-1", "node-2", "node-3")


@dataclass(frozen=True, slots=True)
class Plan:
    """How large, how long.

    Attributes:
        callers: how many of each kind of customer.
        credit: nano-dollars that the prepaid account begins with, and gets again at `credits`.
        budget: nano-dollars that the key with a budget may spend.
        rpm: requests a minute of the key with limits.
        steps: at which part of the run, what: see `Cluster.move`.
        credits: at which parts of the run money is paid in.
        pace: seconds between two events of the provider.
    """

    seconds: float
    seed: int
    callers: dict[str, int]
    credit: int
    budget: int
    rpm: int
    steps: tuple[tuple[float, str], ...]
    credits: tuple[float, ...]
    pace: float = 0.01


LONG = (
    (0.05, "kill node-1"),
    (0.10, "start node-1"),
    (0.16, "drain node-2"),
    (0.20, "start workers-1"),
    (0.26, "restart database"),
    (0.36, "restart valkey"),
    (0.42, "kill node-3"),
    (0.44, "crash database"),
    (0.52, "start node-3"),
    (0.58, "cripple workers-1"),
    (0.62, "freeze database"),
    (0.66, "freeze valkey"),
    (0.70, "start node-4"),
    (0.74, "drain workers-1"),
    (0.78, "kill node-4"),
    (0.80, "bury node-4"),
    (0.84, "start node-2"),
    (0.90, "kill node-1"),
    (0.92, "start node-1"),
)
SHORT = (
    (0.10, "kill node-1"),
    (0.20, "start node-1"),
    (0.30, "drain node-2"),
    (0.45, "restart database"),
    (0.60, "freeze database"),
    (0.75, "restart valkey"),
    (0.80, "kill node-3"),
    (0.85, "bury node-3"),
)


@dataclass(slots=True)
class Cluster:
    """What is moved. Times by the loop's clock."""

    nodes: Nodes
    postgresql: PostgreSQL
    valkey: ValkeyServer
    database_away: list[tuple[float, float]] = field(default_factory=list)
    valkey_away: list[tuple[float, float]] = field(default_factory=list)
    done: list[tuple[float, str]] = field(default_factory=list)

    async def move(self, step: str) -> None:
        """Do one thing to a node or a server.

        A node is killed, started, drained, or what it left is delivered by another process; one of
        its workers is killed. A server is restarted, crashed, or frozen for a moment.
        """
        what, name = step.split(" ")
        began = asyncio.get_running_loop().time()
        match what, name:
            case "kill", _:
                await self.nodes.kill(name)
            case "start", _:
                await self.nodes.start(name)
            case "drain", _:
                await self.nodes.drain(name)
            case "bury", _:
                await self.nodes.bury(name)
            case "cripple", _:
                await self.nodes.cripple(name)
            case (("restart" | "crash"), "database"):
                await self._without_database(crash=what == "crash")
            case "restart", "valkey":
                await asyncio.to_thread(self.valkey.stop)
                await asyncio.sleep(1)
                await asyncio.to_thread(self.valkey.start)
            case "freeze", "database":
                await self._frozen_database()
            case "freeze", "valkey":
                self.valkey.freeze()
                await asyncio.sleep(1)
                self.valkey.thaw()
            case _:
                raise ValueError(step)
        ended = asyncio.get_running_loop().time()
        if name == "valkey":
            self.valkey_away.append((began, ended))
        self.done.append((ended - began, step))

    async def _frozen_database(self) -> None:
        """Commits under way stay so: whether they happen nobody can tell."""
        now = asyncio.get_running_loop().time
        began = now()
        with self.postgresql.frozen():
            await asyncio.sleep(1)
        self.database_away.append((began, now()))

    async def _without_database(self, *, crash: bool) -> None:
        now = asyncio.get_running_loop().time
        began = now()
        how = signal.SIGQUIT if crash else signal.SIGINT
        await asyncio.to_thread(self.postgresql.stop, how)
        await asyncio.sleep(1.5)
        await asyncio.to_thread(self.postgresql.start)
        self.database_away.append((began, now()))


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    asked: list[Asked]
    rows: list[RequestRecord]
    verdict: Verdict
    cluster: Cluster
    lag: float
    log: list[str]
    samples: int


async def run(folder: Path, plan: Plan, postgresql: PostgreSQL, valkey: ValkeyServer) -> Outcome:
    """The whole of it, in a database of its own."""
    with postgresql.database() as url:
        store = open_store(folder, url)
        try:
            return await _run(folder, plan, postgresql, valkey, url, store)
        finally:
            store.close()


async def _run(
    folder: Path,
    plan: Plan,
    postgresql: PostgreSQL,
    valkey: ValkeyServer,
    url: str,
    store: Store,
) -> Outcome:
    customers = _customers(store, plan)
    credited = {customers["prepaid"].account: plan.credit}
    verdict = Verdict()
    asked: list[Asked] = []
    loop = asyncio.get_running_loop()
    async with (
        ScriptedUpstream(answer=Provider(plan.seed, plan.pace).answer) as upstream,
        Balancer().running() as balancer,
        HttpClient() as client,
        _nodes(folder, balancer, url, valkey, upstream) as nodes,
    ):
        cluster = Cluster(nodes, postgresql, valkey)
        async with asyncio.TaskGroup() as group:
            for name in FIRST:
                group.create_task(nodes.start(name))
        lag = _Lag()
        sampler = _Sampler(store, _limited(customers), verdict)
        sampling = asyncio.create_task(sampler.watch())
        began = loop.time()
        over = _after(began + plan.seconds)
        callers = [
            Caller(number, client, balancer.origin, customers[kind], asked, _rng(plan, number))
            for number, kind in enumerate(
                k for k, count in plan.callers.items() for _ in range(count)
            )
        ]
        async with asyncio.TaskGroup() as group:
            for caller in callers:
                group.create_task(caller.ask_until(over))
            group.create_task(_move(cluster, plan, began))
            group.create_task(_pay_in(store, customers["prepaid"], credited, plan, began))
        lag.stop()
        await _run_dry(
            Caller(
                len(callers), client, balancer.origin, customers["prepaid"], asked, _rng(plan, -1)
            )
        )
        sampling.cancel()
        await asyncio.wait([sampling])
        await nodes.end()
        verdict.wrong += nodes.bad
        log = (postgresql.folder / "log").read_text(errors="replace")
        verdict.wrong += [f"database: {line}" for line in log.split("\n") if "deadlock" in line]
        times = Times(nodes.killed, cluster.database_away, cluster.valkey_away)
        with store.read() as connection:
            rows = read_rows(connection)
            judge_answers(asked, times, verdict)
            judge_log(asked, rows, times, verdict)
            judge_repeats(asked, rows, times, verdict)
            judge_money(connection, customers.values(), credited, rows, verdict)
            for wrong in below_zero(connection, _limited(customers)):
                verdict.note(f"in the end {wrong}")
            judge_rest(connection, asked[-1], balance_of(customers["prepaid"].account), verdict)
        if not any(one.status == 402 and one.kind == "prepaid" for one in asked):
            verdict.note("the prepaid balance never ran out")
        return Outcome(asked, rows, verdict, cluster, lag.worst, nodes.log(), sampler.count)


@contextlib.asynccontextmanager
async def _nodes(
    folder: Path, balancer: Balancer, url: str, valkey: ValkeyServer, upstream: ScriptedUpstream
) -> AsyncIterator[Nodes]:
    config = CONFIG.format(
        database=url, valkey=valkey.url, upstream=upstream.base_url, key=PROVIDER_KEY
    )
    nodes = Nodes(folder, balancer, config)
    try:
        yield nodes
    finally:
        nodes.close()


class _Lag:
    """How late this process was at worst, in seconds."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._lag = LoopLag(asyncio.get_running_loop(), self._late)
        self._lag.start()

    def stop(self) -> None:
        self._lag.stop()

    def _late(self, by: float) -> None:
        self.worst = max(self.worst, by)


class _Sampler:
    """Looks at every limited wallet, again and again."""

    def __init__(self, store: Store, wallets: list[str], verdict: Verdict) -> None:
        self._store = store
        self._wallets = wallets
        self._verdict = verdict
        self.count = 0

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            with contextlib.suppress(StoreError):  # it is away
                for wrong in await asyncio.to_thread(self._look):
                    self._verdict.note(wrong)
                self.count += 1
            await asyncio.sleep(SAMPLE_S)

    def _look(self) -> list[str]:
        with self._store.read() as connection:
            return below_zero(connection, self._wallets)


async def _run_dry(caller: Caller) -> None:
    """Spend what is left, with nobody beside: no money may be out of reach."""
    while (await caller.chat("chat", stream=False)).end == "whole":
        pass


async def _move(cluster: Cluster, plan: Plan, began: float) -> None:
    """Each step at its time, or as soon as the one before is done."""
    loop = asyncio.get_running_loop()
    rng = random.Random(f"steps {plan.seed}")
    for part, step in plan.steps:
        jitter = rng.uniform(0, 0.02) * plan.seconds
        await asyncio.sleep(max(0.0, began + part * plan.seconds + jitter - loop.time()))
        await cluster.move(step)


async def _pay_in(
    store: Store, customer: Customer, credited: dict[str, int], plan: Plan, began: float
) -> None:
    loop = asyncio.get_running_loop()
    wallet = account_balance(customer.account)

    def credit() -> None:
        with store.write() as connection:
            add_available(connection, wallet, plan.credit)

    for part in plan.credits:
        await asyncio.sleep(max(0.0, began + part * plan.seconds - loop.time()))
        while True:
            try:
                await asyncio.to_thread(credit)
            except StoreError:  # it is away; nothing was written
                await asyncio.sleep(0.1)
            else:
                break
        credited[customer.account] += plan.credit


def _customers(store: Store, plan: Plan) -> dict[str, Customer]:
    now = int(time.time())
    made = {}
    with store.write() as connection:
        for kind, prepaid, budget, rpm in (
            ("open", False, None, None),
            ("prepaid", True, None, None),
            ("budget", False, Budget(plan.budget, "total"), None),
            ("limited", False, None, plan.rpm),
        ):
            account = Account(f"acct_{kind}", kind, now, prepaid=prepaid)
            add_account(connection, account)
            made[kind] = _customer(connection, account, budget, rpm)
        add_available(connection, account_balance("acct_prepaid"), plan.credit)
    return made


def _customer(
    connection: Connection, account: Account, budget: Budget | None, rpm: int | None
) -> Customer:
    key = make_key(secrets.token_bytes(RANDOM_BYTES))
    add_key(
        connection,
        Key(
            id=f"key_{account.name}",
            name=account.name,
            account=account.id,
            account_name=account.name,
            hash=hash_key(key),
            last4=last4(key),
            created=account.created,
            budget=budget,
            rpm=rpm,
        ),
    )
    return Customer(account.name, key, account.id)  # type: ignore[arg-type]


def _limited(customers: dict[str, Customer]) -> list[str]:
    return [balance_of(customers["prepaid"].account), "budget:key_budget:total"]


def _after(end: float) -> Callable[[], bool]:
    loop = asyncio.get_running_loop()
    return lambda: loop.time() >= end


def _rng(plan: Plan, number: int) -> random.Random:
    return random.Random(f"caller {plan.seed}/{number}")
