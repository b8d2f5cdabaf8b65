import json

import pytest

from zurelay.cli.terminal import (
    _fitting,
    clean,
    clean_lines,
    colours,
    dim,
    minute,
    print_json,
    print_pairs,
    print_table,
    progress,
    seconds,
)

HOSTILE = "a\x1b[31mred\x07\x9b2J\u202eevil\r\nb"


def test_a_cell_keeps_nothing_a_terminal_would_act_on() -> None:
    assert clean(HOSTILE) == "a [31mred  2J evil  b"


def test_running_text_keeps_its_lines_and_tabs() -> None:
    assert clean_lines("a\tb\n\x1b[2Jc\r\x00d\u202e") == "a\tb\n[2Jcd"
    assert clean_lines("👩\u200d🔬 é 日本") == "👩\u200d🔬 é 日本"


def test_a_table_never_reads_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("[bold]name", "n"), [("[/b]", "1"), ("[red]x[/red] :smile:", "2")], right=("n",))
    out = capsys.readouterr().out
    assert "[/b]" in out
    assert "[red]x[/red] :smile:" in out
    assert "[bold]name" in out


def test_a_table_that_goes_into_a_file_is_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("a", "b"), [("x" * 500, "y" * 500)])
    assert f"{'x' * 500}  {'y' * 500}" in capsys.readouterr().out


def test_a_narrow_terminal_is_spared_the_lesser_columns() -> None:
    columns, line = ("id", "note", "key"), ("x" * 10, "y" * 10, "z" * 10)
    assert _fitting(columns, [line], ("note", "key"), 36) == [0, 1, 2]
    assert _fitting(columns, [line], ("note", "key"), 35) == [0, 2]
    assert _fitting(columns, [line, ()], ("note", "key"), 5) == [0]


def test_a_table_without_rows_says_so_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("a",), [], empty="no keys")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "no keys\n")


def test_times_are_as_short_as_people_read_them() -> None:
    assert (seconds(None), seconds(0), seconds(1254.9)) == ("", "0.00", "1.25")
    assert (minute(None), minute("2026-11-29T18:40:12Z")) == ("never", "2026-11-29 18:40")


def test_json_is_plain_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": HOSTILE})
    out = capsys.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out) == {"name": HOSTILE}


def test_pairs_stand_in_two_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_pairs([("id", "1"), ("status", "a\x1bb")])
    assert capsys.readouterr().out == "id      1\nstatus  a b\n"


def test_without_a_terminal_there_are_no_colours_and_no_progress(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not colours()
    assert dim("x") == "x"
    with progress("asking"):
        pass
    assert capsys.readouterr().err == ""
