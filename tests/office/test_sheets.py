import csv
import io

import pytest

from zurelay.office.sheets import csv_lines, json_line, text


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_a_cell_that_would_be_a_formula_is_text(cell: str) -> None:
    (row,) = csv.reader(io.StringIO(csv_lines([[text(cell)]])))
    assert row[0][0] in "' "
    assert row[0].lstrip(" ")[0] not in "+-@\t\r" or row[0].startswith("'")


def test_other_text_stays_as_it_is_and_is_read_back() -> None:
    assert text(None) == ""
    assert text('a, "b"') == 'a, "b"'
    assert text("a\x1b[31m\nb") == "a [31m b"
    line = csv_lines([["x", text('a, "b"'), -5]])
    assert line == 'x,"a, ""b""",-5\r\n'


def test_json_lines_end_where_a_line_ends() -> None:
    assert json_line({"a": "b\nc"}) == '{"a":"b\\nc"}\n'
