import re
from pathlib import Path

from tests.cli.conftest import Run
from zurelay.office.desk import Desk
from zurelay.office.links import follow
from zurelay.store.engine import open_store


def test_a_link_stands_alone_on_the_last_line_and_lets_an_owner_in_once(
    run: Run, tmp_path: Path
) -> None:
    run("keys", "create", "first")  # makes the account
    ran = run("console", "link")
    assert ran.code == 0
    found = re.fullmatch(r"http://127.0.0.1:8000/console/link/([\w-]{43})\n", ran.out)
    assert found
    assert found.group(1) not in ran.err
    store = open_store(tmp_path / "zurelay-data")
    visitor = follow(Desk(store), found.group(1), "test")
    store.close()
    assert visitor.runs_the_gateway


def test_the_address_is_the_configured_one(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "first")
    config = tmp_path / "zurelay.toml"
    config.write_text('[server]\npublic_url = "https://ai.example.com/"\n', encoding="utf-8")
    assert run("console", "link", "--config", str(config)).out.startswith(
        "https://ai.example.com/console/link/"
    )


def test_a_link_for_nobody_is_told_in_one_line(run: Run) -> None:
    run("keys", "create", "first")
    ran = run("console", "link", "eve@example.com")
    assert (ran.code, ran.out) == (1, "")
    assert "There is no owner 'eve@example.com'" in ran.err
