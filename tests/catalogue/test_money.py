from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.catalogue.money import NO_MARKUP, format_factor, format_usd, parse_factor, parse_usd


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0", 0),
        ("1", 10**9),
        ("12.50", 12_500_000_000),
        ("0.000000001", 1),
        ("0.1000000000000", 10**8),
        ("999999999", 999_999_999 * 10**9),
    ],
)
def test_dollars_become_nano_dollars(text: str, nano: int) -> None:
    assert parse_usd(text) == nano


@pytest.mark.parametrize(
    "text",
    ["", "-1", "+1", "1e3", ".5", "1.", "1,5", " 1", "NaN", "0.0000000001", "٣", "1000000000"],
)
def test_what_is_no_plain_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="decimal"):
        parse_usd(text)


@pytest.mark.parametrize(
    ("nano", "text"),
    [
        (0, "0"),
        (54_399_000, "0.054399"),
        (450, "0.00000045"),
        (300, "0.0000003"),
        (1, "0.000000001"),
        (-1_500_000_000, "-1.5"),
        (20 * 10**9, "20"),
    ],
)
def test_amounts_print_without_needless_zeros_and_never_in_e_notation(nano: int, text: str) -> None:
    assert format_usd(nano) == text


@given(st.integers(0, 10**18 - 1))
def test_an_amount_survives_the_way_through_text(nano: int) -> None:
    assert parse_usd(format_usd(nano)) == nano
    assert Decimal(format_usd(nano)) * 10**9 == nano


@pytest.mark.parametrize(
    ("text", "millionths"),
    [("1.0", NO_MARKUP), ("1", NO_MARKUP), ("1.25", 1_250_000), ("0", 0), ("0.000001", 1)],
)
def test_a_factor_is_kept_exactly(text: str, millionths: int) -> None:
    assert parse_factor(text) == millionths


@given(st.integers(0, 1000 * NO_MARKUP - 1))
def test_a_factor_survives_the_way_through_text(millionths: int) -> None:
    assert parse_factor(format_factor(millionths)) == millionths


@pytest.mark.parametrize("text", ["", "-1", "1e3", "1.0000001", "1000", "1,5", "NaN", "٣", "25%"])
def test_what_is_no_plain_factor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="factor below 1000"):
        parse_factor(text)
