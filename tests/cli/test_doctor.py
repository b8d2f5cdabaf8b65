import json
from pathlib import Path

from tests.cli.conftest import Ran, Run
from tests.servers import PostgreSQL
from tests.valkey_server import ValkeyServer


def states(ran: Ran) -> dict[str, str]:
    return {one["what"]: one["state"] for one in json.loads(ran.out)}


def test_a_fresh_folder_is_healthy(run: Run, tmp_path: Path) -> None:
    ran = run("doctor", "--json")
    found = states(ran)
    assert ran.code == 0
    assert {"versions", "open files", "disk", "configuration", "store", "providers"} <= set(found)
    assert "fault" not in found.values()
    assert not (tmp_path / "zurelay-data").exists(), "looking must not make a store"


def test_the_report_is_a_line_for_each_thing(run: Run) -> None:
    run("keys", "create", "alice")
    out = run("doctor").out
    assert "zurelay-data/zurelay.db" in out
    assert "1 key" in out
    assert "Python" in out


def test_a_faulty_configuration_is_one_of_its_faults(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text("[server]\nprot = 1")
    ran = run("doctor")
    assert ran.code == 1
    assert "server.prot" in ran.out


def test_a_damaged_store_is_a_fault(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay-data").mkdir()
    (tmp_path / "zurelay-data" / "zurelay.db").write_bytes(b"garbage" * 1000)
    ran = run("doctor", "--json")
    assert ran.code == 1
    assert states(ran)["store"] == "fault"


def test_a_provider_that_is_away_is_a_fault(run: Run, tmp_path: Path, dead_port: int) -> None:
    (tmp_path / "zurelay.toml").write_text(
        f'[providers.own]\nkind = "ollama"\nbase_url = "http://127.0.0.1:{dead_port}/v1"'
    )
    ran = run("doctor", "--json")
    assert ran.code == 1
    assert states(ran)["provider own"] == "fault"


def test_a_provider_that_answers_is_well(run: Run, tmp_path: Path, sandbox: str) -> None:
    (tmp_path / "zurelay.toml").write_text(
        f'[providers.own]\nkind = "openai"\nbase_url = "{sandbox}"\napi_key = "sk-secret"'
    )
    ran = run("doctor", "--json")
    assert ran.code == 0
    assert states(ran)["provider own"] == "ok"
    assert "sk-secret" not in ran.out


def test_shared_state_is_tried_out(
    run: Run, tmp_path: Path, shared_valkey: ValkeyServer, dead_port: int
) -> None:
    (tmp_path / "zurelay.toml").write_text(f'[storage]\nvalkey_url = "{shared_valkey.url}"')
    ran = run("doctor")
    assert ran.code == 0
    assert f"valkey://127.0.0.1:{shared_valkey.port}/0, Valkey" in ran.out
    url = f"redis://:s3cret@127.0.0.1:{dead_port}"
    (tmp_path / "zurelay.toml").write_text(f'[storage]\nvalkey_url = "{url}"')
    ran = run("doctor", "--json")
    assert ran.code == 1
    assert states(ran)["shared state"] == "fault"
    assert "s3cret" not in ran.out


def test_a_shared_store_is_tried_out_with_its_nodes(
    run: Run, tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        (tmp_path / "zurelay.toml").write_text(f'[storage]\nurl = "{url}"\n')
        ran = run("doctor", "--json")
        assert ran.code == 0
        assert {"store", "nodes", "clock of the database", "spool"} <= set(states(ran))
