import pytest

from tests.office.people import NOON, refusal
from zurelay.access.accounts import Budget
from zurelay.office import values as v


def test_amounts_are_exact_and_named_when_they_cannot_be() -> None:
    assert v.amount_of("12.50", "amount_usd") == 12_500_000_000
    assert v.amount_of("0", "amount_usd") == 0
    for text, positive in (("0", True), ("-1", False), ("1e3", False), ("0.0000000001", False)):
        problem = refusal(v.amount_of, text, "amount_usd", positive=positive)
        assert (problem.status, problem.param) == (400, "amount_usd")
    assert v.usd(None) is None
    assert v.usd(1) == v.usd_of(1) == "0.000000001"


def test_a_budget_is_read_and_shown_alike() -> None:
    assert v.budget_of(None) is None
    assert v.budget_view(None) is None
    budget = v.budget_of(v.BudgetForm("20", "month"))
    assert budget == Budget(20_000_000_000, "month")
    assert v.budget_view(budget) == v.BudgetView("20", "month")
    assert refusal(v.budget_of, v.BudgetForm("x", "day")).param == "budget.usd"


def test_a_time_zone_that_is_none_is_told_with_the_nearest() -> None:
    assert v.zone_name(None) is None
    assert v.zone_name("Europe/Brussels") == "Europe/Brussels"
    assert "Europe/Brussels" in refusal(v.zone_name, "Europe/Brusels").message
    assert refusal(v.zone_name, "../etc/passwd").param == "zone"


def test_names_notes_models_and_markups_are_checked() -> None:
    assert v.name_of("alice") == "alice"
    for name in ("", " ", "a\x1b", "x" * 201):
        assert refusal(v.name_of, name).param == "name"
    assert v.note_of("") == ""
    assert refusal(v.note_of, "a\nb").param == "note"
    assert v.models_of(None) is None
    assert v.models_of(["a", "b/*", "a"]) == ("a", "b/*")
    assert refusal(v.models_of, ["a", " "]).param == "models[1]"
    assert v.markup_of(None) is None
    assert v.markup_of("1.20") == "1.2"
    assert refusal(v.markup_of, "-1").param == "markup"


def test_the_last_day_of_a_key_is_given_back_as_it_was_taken() -> None:
    assert v.last_day(None, NOON) is None
    end = v.last_day("2026-11-29", NOON)
    assert end == 1_795_996_800
    assert v.day_before(end) == "2026-11-29"
    assert v.day_before(None) is None
    assert refusal(v.last_day, "2026-11-28", NOON).param == "expires"
    assert refusal(v.last_day, "tomorrow", NOON).param == "expires"


def test_moments_are_dates_in_utc_or_times_with_their_zone() -> None:
    assert v.moment_of(None, "since") is None
    assert v.moment_of("2026-11-29", "since") == NOON - 43_200
    assert v.moment_of("2026-11-29T12:00:00Z", "since") == NOON
    assert v.moment_of("2026-11-29T13:00:00+01:00", "since") == NOON
    for text in ("2026-11-29T12:00:00", "yesterday", "2026-13-01", ""):
        assert refusal(v.moment_of, text, "since").param == "since"
    assert v.iso(None) is None
    assert v.iso(NOON) == v.iso_of(NOON + 0.9) == "2026-11-29T12:00:00Z"


@pytest.mark.parametrize("text", ["a\x00b", "x" * 100])
def test_what_somebody_wrote_is_repeated_safely(text: str) -> None:
    assert v.shown(text).isprintable()
    assert len(v.shown(text)) <= 64


def test_refs_and_addresses_have_no_blanks_and_no_line_ends() -> None:
    assert v.ref_of("inv-1") == "inv-1"
    for text in ("", "a b", "a\n", "\u00e9", "x" * 201):
        assert refusal(v.ref_of, text).param == "ref"
    assert v.email_of("Ann@Example.com") == "ann@example.com"
    for text in ("", "a@", "@b", "a@b@c", "a@b\n", "a b@c"):
        assert refusal(v.email_of, text).param == "email"
