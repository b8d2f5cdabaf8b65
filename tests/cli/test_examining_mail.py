import json
import time
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.test_mail import configure
from tests.mail_server import mail_server
from zurelay.cli.examining_mail import outbox, server
from zurelay.config.smtp import Smtp
from zurelay.store.engine import open_store
from zurelay.store.outbox import Waiting, add_waiting, finish


def test_a_server_that_answers_is_well_and_gets_no_mail(run: Run, tmp_path: Path) -> None:
    with mail_server() as found:
        configure(tmp_path, found.port)
        ran = run("doctor", "--json")
        assert ran.code == 0
        assert found.got == []
        assert found.sessions == 1
    told = {one["what"]: one for one in json.loads(ran.out)}
    assert told["mail"]["state"] == "ok"
    assert "answers, not encrypted" in told["mail"]["says"]


def test_a_server_that_is_away_is_a_fault(run: Run, tmp_path: Path, dead_port: int) -> None:
    configure(tmp_path, dead_port)
    ran = run("doctor")
    assert ran.code == 1
    assert "connection refused" in ran.out


def test_no_server_is_no_fault() -> None:
    assert server(Smtp()).state == "ok"


def test_what_could_not_be_sent_is_told_for_a_week(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    now = int(time.time() * 1000)
    with store.write() as connection:
        for number, days in enumerate((0, 1, 8)):
            made = now - days * 86_400_000
            row = Waiting(f"out_{number}", made, "mail", "a@b.nl", None, "s", "b", 0, made)
            add_waiting(connection, [row])
    assert [one.says for one in outbox(store)] == ["3 waiting, none given up in 7 days"]
    with store.write() as connection:
        for number in range(3):
            finish(connection, f"out_{number}", None, f"it says 55{number}")
    (found,) = outbox(store)
    assert found.state == "warning"
    assert found.says == "2 could not be sent in the last 7 days; the last mail: it says 550"
    store.close()
