"""What providers ask for, by month."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tests.console.history import requests, write
from tests.console.people import OWNER, Person
from zurelay.console.costs import bounds, counted, months
from zurelay.office.accounts import get_account
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.usage import ProviderUsageView
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/billing/providers"


def at(*day: int) -> float:
    return datetime(*day, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


def test_the_month_that_runs_comes_first_and_a_year_before_it() -> None:
    known = months(at(2026, 2, 28, 23, 59))
    assert known[:3] == ["2026-02", "2026-01", "2025-12"]
    assert (len(known), known[-1]) == (13, "2025-02")


@pytest.mark.parametrize(
    ("month", "start", "end"),
    [
        ("2026-01", (2026, 1, 1), (2026, 2, 1)),
        ("2025-12", (2025, 12, 1), (2026, 1, 1)),
        ("2024-02", (2024, 2, 1), (2024, 3, 1)),
    ],
)
def test_a_month_goes_from_its_first_day_to_the_next_one_s(
    month: str, start: tuple[int, ...], end: tuple[int, ...]
) -> None:
    assert bounds(month) == (at(*start), at(*end))


def test_tokens_of_prompts_and_of_answers_are_told_apart() -> None:
    tokens = {
        "input": 1,
        "cached_input": 2,
        "cache_write": 4,
        "cache_write_long": 8,
        "audio_input": 16,
        "output": 32,
        "audio_output": 64,
        "reasoning": 1000,
    }
    row = ProviderUsageView("p", 0, 0, "0", "0", "0", tokens)
    assert counted(row) == (31, 96)


async def test_operators_see_what_a_provider_asks_beside_what_callers_paid(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    account = get_account(desk, OWNER, "default")
    key = create_key(desk, OWNER, NewKey("tool")).details
    (one,) = requests(time.time(), 1, account.id, (key.id,), days=0)
    one.status, one.cost, one.upstream_cost = "ok", 3 * 10**9, 2 * 10**9
    one.attempts[0].route, one.attempts[0].status = "anthropic:model", "ok"
    write(gateway.store, iter([one]))
    admin = people("admin")
    text = (await admin.get(HOME)).text
    assert "anthropic" in text
    assert text.count("$2.00") == 2
    assert text.count("$3.00") == 2
    other = (await admin.get(f"{HOME}?month={months(time.time())[1]}")).text
    assert "Nothing was asked in this month" in other
    assert "anthropic" in (await admin.get(f"{HOME}?month=nonsense")).text
    assert HOME in (await admin.get("/console/billing")).text
    for role in ("member", "read-only"):
        assert (await people(role).get(HOME)).status == 403
        assert HOME not in (await people(role).get("/console/billing")).text
