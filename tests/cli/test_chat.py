import io
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Run
from tests.cli.terminals import terminal
from zurelay.cli.chat import api_key
from zurelay.cli.terminal import Failed


@pytest.fixture
def ask(run: Run, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ZURELAY_API_KEY", "zk-1")
    monkeypatch.setenv("ZURELAY_BASE_URL", sandbox)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    def chat(*arguments: str, piped: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(piped))
        return run("chat", *arguments)

    return chat


def test_a_question_on_the_command_line_is_answered(ask: Run) -> None:
    ran = ask("-m", "sandbox/echo", "Hello", "there")
    assert (ran.code, ran.err) == (0, "")
    assert "Hello there" in ran.out
    assert ran.out.endswith("\n")


def test_a_question_may_be_piped_in(ask: Run) -> None:
    assert "from a pipe" in ask("-m", "sandbox/echo", piped="from a pipe\n").out


def test_what_is_piped_in_follows_the_question(ask: Run) -> None:
    out = ask("-m", "sandbox/echo", "Sum this up:", piped="the text").out
    assert "Sum this up:" in out
    assert "the text" in out


def test_no_question_at_all_is_a_wrong_call(ask: Run) -> None:
    ran = ask("-m", "sandbox/echo")
    assert (ran.code, ran.out) == (2, "")


def test_without_a_model_the_first_one_answers(ask: Run) -> None:
    assert "Hello" in ask("Hello").out


def test_thinking_stays_out_of_a_pipe(ask: Run) -> None:
    ran = ask("-m", "sandbox/reasoning", "Hello")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert ran.out.count("\n") == 1


def test_a_failure_is_one_line_and_code_1(ask: Run) -> None:
    ran = ask("-m", "sandbox/error?status=500", "Hello")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)


def test_an_answer_that_breaks_off_fails_after_what_came(ask: Run) -> None:
    ran = ask("-m", "sandbox/cut?after=3", "Hello")
    assert ran.code == 1
    assert ran.out
    assert "broke off" in ran.err


def test_the_key_comes_from_the_environment_or_the_first_start(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="ZURELAY_API_KEY"):
        api_key({}, tmp_path)
    (tmp_path / "first-key").write_text("zk-file\n")
    assert api_key({}, tmp_path) == "zk-file"
    assert api_key({"ZURELAY_API_KEY": " zk-env "}, tmp_path) == "zk-env"


@pytest.mark.parametrize("key", ["zk a", "zk\r\nx-evil: 1", "zk-é"])
def test_a_key_that_could_not_travel_is_refused_unshown(key: str, tmp_path: Path) -> None:
    with pytest.raises(Failed) as caught:
        api_key({"ZURELAY_API_KEY": key}, tmp_path)
    assert key not in str(caught.value)


def test_a_conversation_on_a_terminal(sandbox: str, tmp_path: Path) -> None:
    environ = {"ZURELAY_API_KEY": "zk-1", "ZURELAY_BASE_URL": sandbox}
    arguments = ("chat", "-m", "sandbox/reasoning")
    with terminal(*arguments, folder=tmp_path, environ=environ) as screen:
        screen.until("> ")
        screen.type("What now?\n")
        seen = screen.until("\n> ")
        assert "\x1b[2m" in seen, "thinking is fainter"
        assert "What now?" in seen
        screen.type("\x04")
        assert screen.process.wait(15) == 0


def test_a_failure_does_not_end_a_conversation(sandbox: str, tmp_path: Path) -> None:
    environ = {"ZURELAY_API_KEY": "zk-1", "ZURELAY_BASE_URL": sandbox}
    arguments = ("chat", "-m", "sandbox/error?status=500")
    with terminal(*arguments, folder=tmp_path, environ=environ) as screen:
        screen.until("> ")
        screen.type("Hello\n")
        assert "zurelay: " in screen.until("\n> ")
        assert screen.process.poll() is None
