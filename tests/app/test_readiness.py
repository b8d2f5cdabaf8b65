from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from tests.app.conftest import until
from tests.valkey_server import valkey
from zurelay.app.readiness import readiness
from zurelay.live.keys import KeyRing
from zurelay.live.ledger import JournalLedger
from zurelay.telemetry.metrics import SharedHealth, StoreHealth
from zurelay.testing.gateway import RunningGateway


@dataclass
class Ledger:
    broken: str | None = None
    health: StoreHealth = field(default_factory=StoreHealth)

    def store_health(self) -> StoreHealth:
        return self.health


@dataclass
class Keys:
    failing: bool = False
    stale: bool = False


UP, DOWN = SharedHealth(up=True), SharedHealth(up=False)
STORE = {"status": "degraded", "degraded": ["store"]}


@pytest.mark.parametrize(
    ("ledger", "keys", "shared", "says"),
    [
        (Ledger(), Keys(), None, {"status": "ok"}),
        (Ledger(), Keys(), UP, {"status": "ok"}),
        (Ledger(), Keys(failing=True), UP, STORE),
        (Ledger(), Keys(), DOWN, {"status": "degraded", "degraded": ["valkey"]}),
        (
            Ledger(),
            Keys(failing=True),
            DOWN,
            {"status": "degraded", "degraded": ["store", "valkey"]},
        ),
        (Ledger("disk full"), Keys(), UP, {"status": "unavailable"}),
        (Ledger(), Keys(failing=True, stale=True), UP, {"status": "unavailable"}),
        # A moment of waiting is no fault; a long one is.
        (
            Ledger(health=StoreHealth(spooled=3, lag_s=0.25)),
            Keys(),
            None,
            {"status": "ok", "spool": {"rows": 3, "age_s": 0.2}},
        ),
        (
            Ledger(health=StoreHealth(spooled=7000, lag_s=61.04)),
            Keys(),
            None,
            STORE | {"spool": {"rows": 7000, "age_s": 61.0}},
        ),
        # With SQLite the log may be behind without anything being away.
        (Ledger(health=StoreHealth(spooled=0, lag_s=9)), Keys(), None, {"status": "ok"}),
    ],
)
def test_readiness_names_what_is_away(
    ledger: Ledger, keys: Keys, shared: SharedHealth | None, says: dict[str, object]
) -> None:
    assert readiness(cast("JournalLedger", ledger), cast("KeyRing", keys), shared) == says


async def test_a_gateway_is_ready_without_its_shared_state_and_says_so(tmp_path: Path) -> None:
    with valkey() as server:
        config = f'[storage]\nvalkey_url = "{server.url}"\n'
        async with RunningGateway(tmp_path, config) as gateway:
            ready = gateway.process._parts.parts.ready
            assert ready() == {"status": "ok"}
            server.stop()
            await until(lambda: ready() == {"status": "degraded", "degraded": ["valkey"]})
            server.start()
            await until(lambda: ready() == {"status": "ok"})
