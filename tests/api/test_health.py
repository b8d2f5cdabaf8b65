"""What machines that watch this one are told."""

from tests.app.conftest import Caller as Client
from zurelay.testing.gateway import RunningGateway


async def test_machines_that_watch_need_no_key(client: Client) -> None:
    assert (await client.send("GET", "/healthz", headers={})).json == {"status": "ok"}
    assert (await client.send("GET", "/readyz", headers={})).json == {"status": "ok"}
    metrics = await client.send("GET", "/metrics", headers={})
    assert metrics.headers["content-type"].startswith("text/plain")
    assert b"zurelay_" in metrics.body


async def test_readiness_says_what_is_away(client: Client, gateway: RunningGateway) -> None:
    parts = gateway.process._parts.parts
    parts.ready = lambda: {"status": "degraded", "degraded": ["store"]}
    answer = await client.get("/readyz")
    assert (answer.status, answer.json["degraded"]) == (200, ["store"])
    parts.ready = lambda: {"status": "unavailable"}
    assert (await client.get("/readyz")).status == 503


async def test_health_asks_nothing_of_the_store(client: Client, gateway: RunningGateway) -> None:
    gateway._store.close()
    assert (await client.send("GET", "/healthz", headers={})).status == 200
