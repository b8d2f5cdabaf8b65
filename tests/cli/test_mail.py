from pathlib import Path

from tests.cli.conftest import Run
from tests.mail_server import mail_server


def configure(folder: Path, port: int) -> None:
    (folder / "zurelay.toml").write_text(
        f'[smtp]\nhost = "127.0.0.1"\nport = {port}\nsecurity = "none"\nsender = "ai@example.com"\n'
        '[server]\npublic_url = "https://ai.example.com"\n[brand]\nname = "Acme"\n',
        encoding="utf-8",
    )


def test_a_mail_is_sent_at_once(run: Run, tmp_path: Path) -> None:
    with mail_server() as server:
        configure(tmp_path, server.port)
        ran = run("mail", "test", "ann@example.com")
        assert (ran.code, ran.err) == (0, "")
        assert f"127.0.0.1:{server.port} took a mail for ann@example.com" in ran.out
        ((to, got),) = server.got
    assert to == ["ann@example.com"]
    assert got["Subject"] == "A mail from Acme"
    assert "https://ai.example.com" in got.get_content()


def test_what_the_server_says_against_it_is_told_in_one_line(run: Run, tmp_path: Path) -> None:
    with mail_server() as server:
        configure(tmp_path, server.port)
        server.refuses["ann@example.com"] = "550 no such user"
        ran = run("mail", "test", "ann@example.com")
        assert ran.code == 1
        assert "550 no such user" in ran.err
        assert run("mail", "test", "nobody").code == 1


def test_without_a_server_it_says_what_to_write(run: Run) -> None:
    ran = run("mail", "test", "ann@example.com")
    assert ran.code == 1
    assert "[smtp]" in ran.err
