"""What settings come to on the data plane."""

from pathlib import Path

from zurelay.app.parts import snapshot
from zurelay.config.load import load
from zurelay.plan.route import RoutingTable

CONFIG = """
[server]
max_body_mb = 2
max_inflight_mb = 3
max_streams = 4
stream_max_s = 5
trusted_proxies = ["10.0.0.0/8"]
expose_routes = true
[brand]
name = "House"
wire = "house"
[streaming]
early_open_s = 6
[routing]
attempts = 7
idle_deadline_s = 8
[providers.own]
kind = "openai"
base_url = "https://models.house.example:8443/v1"
api_key = "very-secret-key"
headers = { "x-team" = "team-secret-9" }
"""


def test_a_snapshot_holds_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "zurelay.toml"
    path.write_text(CONFIG)
    made = snapshot(load(path, {}, tmp_path), RoutingTable({}))
    assert (made.max_body, made.max_inflight) == (2 * 1024 * 1024, 3 * 1024 * 1024)
    assert (made.max_streams, made.expose_routes) == (4, True)
    assert [str(network) for network in made.trusted_proxies] == ["10.0.0.0/8"]
    assert (made.brand, made.wire) == ("House", "house")
    timing = made.timing
    assert (timing.stream_max_s, timing.early_open_s) == (5, 6)
    assert (timing.attempts, timing.idle_deadline_s) == (7, 8)
    assert made.config_hash


def test_credentials_and_addresses_are_taken_out_of_what_providers_say(tmp_path: Path) -> None:
    path = tmp_path / "zurelay.toml"
    path.write_text(CONFIG)
    redact = snapshot(load(path, {}, tmp_path), RoutingTable({})).redact
    said = "very-secret-key at models.house.example:8443 for team-secret-9: too busy"
    shown = redact(said)
    assert "too busy" in shown
    for hidden in ("very-secret-key", "house.example", "team-secret-9"):
        assert hidden not in shown
