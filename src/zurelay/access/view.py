"""Keys as their holders and operators are shown them; never their text or hash."""

from datetime import UTC, datetime
from typing import Any

from zurelay.access.keys import Key
from zurelay.catalogue.money import format_usd


def key_view(key: Key, spent: int, left: int | None) -> dict[str, Any]:
    """The JSON object of `GET /v1/key`.

    Args:
        key: the calling key.
        spent: nano-dollars it has spent, in its budget's period where it has one.
        left: nano-dollars it may still spend by its budget, its account's and the balance,
            whichever ends first; None for no limit.
    """
    budget = key.budget
    remaining = None if left is None else format_usd(left)
    return {
        "id": key.id,
        "name": key.name,
        "account": key.account_name,
        "limits": {
            "models": None if key.models is None else list(key.models),
            "budget_usd": None if budget is None else format_usd(budget.usd),
            "budget_period": None if budget is None else budget.period,
            "rpm": key.rpm,
            "tpm": key.tpm,
            "concurrency": key.concurrency,
            "expires": _iso(key.expires),
        },
        "spent_usd": format_usd(spent),
        "remaining_usd": remaining,
        "store_days": key.store_days,
    }


def key_row(key: Key, spent: int, now: float) -> dict[str, Any]:
    """A key as operators list it: `key_view` by its own budget, and what only they need."""
    left = None if key.budget is None else max(0, key.budget.usd - spent)
    return key_view(key, spent, left) | {
        "last4": key.last4,
        "state": key.state(now),
        "created": _iso(key.created),
        "revoked": _iso(key.revoked),
        "last_used": _iso(key.last_used),
    }


def _iso(seconds: int | None) -> str | None:
    """Unix seconds as RFC 3339 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
