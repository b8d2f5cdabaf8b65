import pytest

from tests.office.people import refusal
from zurelay.office.pages import Page, listed


def test_a_page_ends_with_a_cursor_to_the_next_until_there_is_none() -> None:
    rows = [(1, "a"), (1, "b"), (2, "c")]
    page = listed(Page(2), rows, lambda row: row, lambda row: row[1])
    assert page.data == ["a", "b"]
    assert page.next_cursor == "1.b"
    assert Page(2, page.next_cursor).after == (1, "b")
    last = listed(Page(3), rows, lambda row: row, lambda row: row[1])
    assert (last.data, last.next_cursor) == (["a", "b", "c"], None)
    assert Page().after is None


@pytest.mark.parametrize("cursor", ["", "x", "1", "1.", ".a", "-1.a", "\u0661.a", "9" * 16 + ".a"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    problem = refusal(lambda: Page(1, cursor).after)
    assert (problem.status, problem.param) == (400, "cursor")
