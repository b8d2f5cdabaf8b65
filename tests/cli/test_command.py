import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from tests.cli.conftest import Run
from zurelay import __version__
from zurelay.cli.command import app, main
from zurelay.cli.terminal import Failed


def commands() -> Iterator[tuple[str, ...]]:
    """Every command there is, as it is typed."""

    def below(group: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        found = getattr(group, "commands", None)
        if found is None:
            yield path
            return
        for name, command in found.items():
            yield from below(command, (*path, name))

    yield from below(get_command(app), ())


def parsed(arguments: list[str]) -> None:
    """Read a call as the program would, without running it. Raises for a wrong one."""
    command: Any = get_command(app)
    while (inner := getattr(command, "commands", None)) is not None:
        command, arguments = inner[arguments[0]], arguments[1:]
    command.make_context("zurelay", list(arguments))


def process(
    *arguments: str, folder: Path, out: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zurelay", *arguments],
        cwd=folder,
        env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        timeout=30,
        check=False,
    )


def test_there_are_the_promised_commands() -> None:
    found = {" ".join(path) for path in commands()}
    assert found == {
        "serve",
        "check",
        "keys create",
        "keys list",
        "keys set",
        "keys rotate",
        "keys revoke",
        "keys forget",
        "accounts create",
        "accounts list",
        "accounts show",
        "accounts set",
        "accounts stop",
        "accounts resume",
        "credit",
        "debit",
        "refund",
        "statement",
        "export",
        "erase",
        "audit",
        "alerts",
        "stop",
        "resume",
        "stops",
        "backup",
        "restore",
        "move",
        "spool deliver",
        "console link",
        "tokens create",
        "tokens list",
        "tokens revoke",
        "models",
        "auto explain",
        "routes",
        "log",
        "usage",
        "chat",
        "sandbox",
        "doctor",
        "mail test",
    }


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_every_command_shows_an_example_of_itself(path: tuple[str, ...], run: Run) -> None:
    ran = run(*path, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"Example: zurelay {' '.join(path)}" in ran.out


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_every_command_takes_config_and_data(path: tuple[str, ...], run: Run) -> None:
    out = run(*path, "--help").out
    assert "--config FILE" in out
    assert "--data DIR" in out


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_an_example_is_a_call_that_parses(path: tuple[str, ...], run: Run) -> None:
    (line,) = [x for x in run(*path, "--help").out.split("\n") if x.strip().startswith("Example:")]
    arguments = shlex.split(line.split("zurelay ", 1)[1])
    parsed(arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nope",), "No such command 'nope'"),
        (("serve", "--prot", "1"), "--prot"),
        (("serve", "--port", "x"), "--port"),
        (("serve", "--port", "70000"), "--port"),
        (("keys", "create"), "NAME"),
        (("log", "--status", "bad"), "--status"),
        (("usage", "--by", "moon"), "--by"),
        (("usage", "--since", "soon"), "--since"),
    ],
)
def test_a_wrong_call_is_one_line_on_stderr_and_code_2(
    arguments: tuple[str, ...], says: str, run: Run
) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("zurelay: ")
    assert ran.err.count("\n") == 1
    assert says in ran.err
    assert "--help" in ran.err


def test_without_arguments_the_help_goes_to_stderr_with_code_2(run: Run) -> None:
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert "Commands:" in ran.err


def test_the_version_is_told(run: Run) -> None:
    ran = run("--version")
    assert (ran.code, ran.out) == (0, f"zurelay {__version__}\n")


def test_a_failure_is_one_line_and_code_1(run: Run) -> None:
    ran = run("log")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count("\n") == 1
    assert "there is no store in zurelay-data" in ran.err


def test_faults_of_the_configuration_are_lines_and_code_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text("[server]\nprot = 1\nport = 'x'")
    ran = run("models")
    assert ran.code == 1
    assert [line.split(": ")[2] for line in ran.err.rstrip().split("\n")] == [
        "server.prot",
        "server.port",
    ]


def test_a_store_that_is_none_is_one_line_and_code_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zurelay-data").mkdir()
    (tmp_path / "zurelay-data" / "zurelay.db").write_text("this is no database at all" * 100)
    ran = run("keys", "list")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "zurelay.db" in ran.err


def test_a_data_folder_that_cannot_be_is_one_line_and_code_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run("keys", "create", "a", "--data", "file")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count("\n") == 1


def test_a_bug_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("zurelay.cli.command.app", broken)
    with pytest.raises(ZeroDivisionError):
        main(["check"])


@pytest.mark.parametrize(
    ("error", "code"),
    [(Failed("x"), 1), (KeyboardInterrupt(), 130), (typer.Abort(), 130), (OSError(28, "full"), 1)],
)
def test_every_way_to_fail_has_its_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(**_: object) -> None:
        raise error

    monkeypatch.setattr("zurelay.cli.command.app", failing)
    assert main([]) == code


def test_exit_codes_and_streams_of_a_real_process(tmp_path: Path) -> None:
    done = [
        process(*arguments, folder=tmp_path)
        for arguments in (("check",), ("check", "--config", "gone"), ("check", "--nope"))
    ]
    assert [one.returncode for one in done] == [0, 1, 2]
    assert [bool(one.stdout) for one in done] == [True, False, False]
    assert all("Traceback" not in one.stderr for one in done)


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process("models", "--json", folder=tmp_path, out=writing)
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr == ""


PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_the_documentation_shows_every_command(path: tuple[str, ...]) -> None:
    assert f"zurelay {' '.join(path)}" in PAGE


def test_every_call_in_the_documentation_parses() -> None:
    found = [
        line.split("#")[0]
        for block in PAGE.split("```sh\n")[1:]
        for line in block.split("```")[0].split("\n")
    ]
    lines = [line.partition("zurelay ")[2] for line in found if "zurelay " in line]
    calls = [line.split("2>")[0].split(" > ")[0] for line in lines]
    assert len(calls) > 15
    for call in calls:
        parsed(shlex.split(call))
