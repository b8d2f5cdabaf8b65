"""What providers ask for, month by month: to set beside their invoices.

For operators: what callers pay and what the gateway pays are told apart nowhere else.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from zurelay.console.billing import HOME as BILLING
from zurelay.console.page import OPERATORS, Html, Page, Reply, Visit
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
    today = datetime.fromtimestamp(now, UTC)
    count = today.year * 12 + today.month - 1
    return [f"{one // 12:04}-{one % 12 + 1:02}" for one in range(count, count - MONTHS, -1)]


def bounds(month: str) -> tuple[float, float]:
    """When a month begins and the next one, in Unix seconds."""
    year, _, number = month.partition("-")
    count = int(year) * 12 + int(number)
    first = datetime(int(year), int(number), 1, tzinfo=UTC)
    return first.timestamp(), datetime(count // 12, count % 12 + 1, 1, tzinfo=UTC).timestamp()


def counted(row: ProviderUsageView) -> tuple[int, int]:
    """Tokens of prompts, those read from and written to a cache too, and of answers."""
    output = sum(count for name, count in row.tokens.items() if name.endswith("output"))
    given = ("input", "cache_write", "cache_write_long")
    return sum(count for name, count in row.tokens.items() if name.endswith(given)), output


PAGES = (Page("GET", HOME, OPERATORS, index),)
