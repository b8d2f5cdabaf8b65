import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from zurelay.cli.banner import Banner, Provider, banner, curl

INFO = Banner(
    product="Zurelay",
    version="1.0",
    base_url="http://127.0.0.1:8000",
    origin="zurelay.toml",
    example_model="sandbox/echo",
    providers=(Provider("mine", "openai", 1), Provider("sandbox", "sandbox", 12)),
    key="zk-abc",
)


def test_the_first_start_shows_address_key_and_providers() -> None:
    lines = banner(INFO).split("\n")
    assert lines[0] == "Zurelay 1.0"
    assert "  Base URL   http://127.0.0.1:8000/v1" in lines
    assert "  Console    http://127.0.0.1:8000/console" in lines
    assert "  API key    zk-abc" in lines
    assert "  Guide      http://127.0.0.1:8000/docs" in lines
    assert "  Providers  mine     openai, 1 model" in lines
    assert "             sandbox  12 models" in lines


def test_the_console_is_shown_with_the_link_that_lets_its_first_owner_in() -> None:
    link = "http://127.0.0.1:8000/console/link/abc"
    assert f"  Console    {link}" in banner(replace(INFO, link=link)).split("\n")


def test_a_key_that_is_not_shown_is_named_by_its_file() -> None:
    text = banner(Banner("Z", "1", "http://h", "x", "m", key_file="/data/first-key"))
    assert "API key    in /data/first-key" in text
    assert "$(cat '/data/first-key')" in text


def test_more_keys_and_links_are_made_by_the_command_as_this_shell_finds_it() -> None:
    text = banner(replace(INFO, link="http://h/l", command=".venv/bin/zurelay"))
    assert " More: .venv/bin/zurelay keys create NAME\n" in text
    assert " Another: .venv/bin/zurelay console link\n" in text
    assert " More: zurelay keys create NAME\n" in banner(INFO)


def test_several_workers_are_counted() -> None:
    assert "  Workers    4" in banner(replace(INFO, workers=4)).split("\n")
    assert "Workers" not in banner(INFO)


def test_a_later_start_says_nothing_of_a_key() -> None:
    text = banner(Banner("Z", "1", "http://h", "x", "m"))
    assert "API key" not in text
    assert "$ZURELAY_API_KEY" in text
    assert "Providers  none" in text


@pytest.mark.parametrize("path", ["/data/first-key", '/da ta/it\'s "here"/first-key'])
def test_the_curl_call_is_right_for_a_shell(path: str, tmp_path: Path) -> None:
    fake = tmp_path / "curl"
    fake.write_text('#!/bin/sh\nfor a in "$@"; do echo "<$a>"; done\n')
    fake.chmod(0o755)
    (tmp_path / "cat").write_text('#!/bin/sh\necho "key-of:$1"\n')
    (tmp_path / "cat").chmod(0o755)
    lines = curl(Banner("Z", "1", "http://h:1", "x", "sandbox/echo", key_file=path))
    done = subprocess.run(
        ["/bin/sh", "-c", "\n".join(lines)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n") == [
        "<http://h:1/v1/chat/completions>",
        "<-H>",
        f"<Authorization: Bearer key-of:{path}>",
        "<-H>",
        "<Content-Type: application/json>",
        "<-d>",
        '<{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}>',
        "",
    ]
