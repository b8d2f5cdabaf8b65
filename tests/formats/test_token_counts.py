import pytest

from zurelay.formats.token_counts import MOST, count, details


@pytest.mark.parametrize(("value", "read"), [(0, 0), (7, 7), (7.0, 7), (MOST, MOST)])
def test_a_number_from_zero_is_a_count(value: object, read: int) -> None:
    assert count({"n": value}, "n") == read


@pytest.mark.parametrize(
    "value", [None, True, "7", [], {}, -1, -0.5, MOST + 1, float("nan"), float("inf")]
)
def test_anything_else_counts_as_left_out(value: object) -> None:
    assert count({"n": value}, "n") is None
    assert count({}, "n") is None


@pytest.mark.parametrize("value", [None, 7, "x", [1]])
def test_details_are_an_object_or_empty(value: object) -> None:
    assert details({"d": value}, "d") == {}
    assert details({}, "d") == {}
    assert details({"d": {"n": 1}}, "d") == {"n": 1}
