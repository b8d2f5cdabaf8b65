import json
from pathlib import Path

from tests.cli.conftest import Run


def test_without_a_file_everything_is_well(run: Run) -> None:
    ran = run("check")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "ok: no file; providers: sandbox; models: 13\n"


def test_every_fault_is_a_line_with_file_key_and_what_to_write(run: Run, tmp_path: Path) -> None:
    (tmp_path / "z.toml").write_text('[server]\nprot = 1\n[providers.o]\nkind = "opnai"\n')
    ran = run("check", "--config", "z.toml")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.split("\n") == [
        'z.toml: server.prot: unknown key. Did you mean "port"?',
        'z.toml: providers.o.kind: no such kind. Did you mean "openai"?',
        "",
    ]


def test_faults_come_as_json_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "z.toml").write_text("[server]\nport = 'x'\n")
    ran = run("check", "--config", "z.toml", "--json")
    assert ran.code == 1
    (fault,) = json.loads(ran.out)["faults"]
    assert (fault["file"], fault["key"]) == ("z.toml", "server.port")
    assert json.loads(run("check", "--json").out) == {"ok": True, "faults": []}


def test_hostile_names_in_a_file_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "z.toml").write_text('["a\\u001b[31m"]\n')
    assert "\x1b" not in run("check", "--config", "z.toml").err


def test_a_server_that_tells_its_own_models_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text('[providers.local]\nkind = "ollama"')
    assert "and what local will tell" in run("check").out
