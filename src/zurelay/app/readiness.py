"""What `/readyz` says: whether requests can be served, and what is away meanwhile."""

from zurelay.live.keys import KeyRing
from zurelay.live.ledger import JournalLedger
from zurelay.telemetry.metrics import SharedHealth

_LATE_SECONDS = 5.0
"""A record that waits for so long waits for a database that is away."""


def readiness(
    ledger: JournalLedger, keys: KeyRing, shared: SharedHealth | None
) -> dict[str, object]:
    """The state as JSON.

    `status` is `ok`; `degraded` while something is away but requests are served, with its name in
    `degraded`; or `unavailable`. `spool` counts records that wait for the database, if any do.
    """
    if ledger.broken is not None or keys.stale:
        return {"status": "unavailable"}
    health = ledger.store_health()
    away = []
    if keys.failing or (health.spooled and health.lag_s > _LATE_SECONDS):
        away.append("store")
    if shared is not None and not shared.up:
        away.append("valkey")
    state: dict[str, object] = (
        {"status": "degraded", "degraded": away} if away else {"status": "ok"}
    )
    if health.spooled:
        state["spool"] = {"rows": health.spooled, "age_s": round(health.lag_s, 1)}
    return state
