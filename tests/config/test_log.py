"""The key of stored messages is long enough, and shown nowhere."""

from pathlib import Path

import pytest

from zurelay.config.faults import ConfigError
from zurelay.config.load import load
from zurelay.config.settings import Settings


def read(folder: Path, lines: str, **environ: str) -> Settings:
    file = folder / "zurelay.toml"
    file.write_text(f"[log]\n{lines}\n")
    return load(file, environ, folder)


def test_there_is_no_key_by_itself(tmp_path: Path) -> None:
    assert read(tmp_path, "").log.content_key == ""


def test_the_key_comes_from_the_environment(tmp_path: Path) -> None:
    lines = 'content_key = "$K"\ncontent_previous_keys = ["$OLD"]'
    found = read(tmp_path, lines, K="k" * 32, OLD="o" * 40).log
    assert found.content_key == "k" * 32
    assert found.content_previous_keys == ("o" * 40,)
    assert "k" * 32 not in repr(found)
    assert "o" * 40 not in repr(found)


@pytest.mark.parametrize("line", ['content_key = "$K"', 'content_previous_keys = ["$K"]'])
def test_a_short_key_is_a_fault_that_does_not_repeat_it(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, line, K="tooshort")
    (fault,) = raised.value.faults
    assert "log.content" in str(fault)
    assert "it has 8 characters" in str(fault)
    assert "tooshort" not in str(fault)
