"""What providers ask for, month by month: to set beside their invoices.

For operators: what callers pay and what the gateway pays are told apart nowhere else.
"""

from datetime import UTC
from decimal import Decimal
from typing import Final

from zurelay.console.billing import HOME as BILLING
from zurelay.console.page import OPERATORS, Html, Page, Reply, Visit
from zurelay.office.months import month_at, shifted, start_of
from zurelay.office.usage import ProviderUsageView, usage_of_providers

HOME: Final = f"{BILLING}/providers"
MONTHS: Final = 13
"""The running month and a year before it."""


def index(visit: Visit) -> Reply:
    """One month, by provider."""
    known = months(visit.parts.wall())
    chosen = visit.query.get("month", "")
    month = chosen if chosen in known else known[0]
    start, end = bounds(month)
    rows = usage_of_providers(visit.parts.desk, visit.actor, since=start, until=end)
    return Html(
        "costs.html",
        {
            "months": known,
            "month": month,
            "rows": [(row, *counted(row)) for row in rows],
            "total": {
                name: f"{sum(Decimal(getattr(row, name)) for row in rows):f}"
                for name in ("charged_usd", "cost_usd", "lost_usd")
            },
        },
    )


def months(now: float) -> list[str]:
    """Months in UTC such as 2026-11, the one that runs first."""
    return [shifted(month_at(now, UTC), -number) for number in range(MONTHS)]


def bounds(month: str) -> tuple[float, float]:
    """When a month begins and the next one, in Unix seconds."""
    return start_of(month, UTC), start_of(shifted(month), UTC)


def counted(row: ProviderUsageView) -> tuple[int, int]:
    """Tokens of prompts, those read from and written to a cache too, and of answers."""
    output = sum(count for name, count in row.tokens.items() if name.endswith("output"))
    given = ("input", "cache_write", "cache_write_long")
    return sum(count for name, count in row.tokens.items() if name.endswith(given)), output


PAGES = (Page("GET", HOME, OPERATORS, index),)
