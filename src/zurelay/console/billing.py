"""Billing: what an account has, what it spends, its budgets, its payments and its statements.

Operators choose whose; members see their own account. Knows nothing of how money moves.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Final
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response, StreamingResponse

from zurelay.chat.problems import Refused
from zurelay.console.charts import Chart, Series
from zurelay.console.languages import N_
from zurelay.console.page import SIGNED_IN, Html, Page, Redirect, Reply, Visit
from zurelay.console.terms import PERIODS, spent
from zurelay.office import accounts, exports, keys, money, statements
from zurelay.office.accounts import AccountView
from zurelay.office.desk import no_such
from zurelay.office.pages import Page as ListPage
from zurelay.office.statements import ChargeLine, Statement
from zurelay.office.trends import trend
from zurelay.office.values import moment_of

HOME: Final = "/console/billing"
KINDS: Final = {
    "credit": N_("Payment"),
    "debit": N_("Taken off"),
    "refund": N_("Given back"),
}
_MOST_ACCOUNTS = 500
_MOST_KEYS = 500
_TRANSFERS = 20
_DAY_S = 86_400


def index(visit: Visit) -> Reply:
    """One account's money as it stands now."""
    desk, actor = visit.parts.desk, visit.actor
    known = accounts.list_accounts(desk, actor, ListPage(_MOST_ACCOUNTS)).data
    account = chosen(visit, known)
    months = statements.list_months(desk, actor, account.id)
    running = statements.statement(desk, actor, account.id, months[0].month)
    page = ListPage(_TRANSFERS, visit.query.get("cursor") or None)
    moved = money.list_transfers(desk, actor, page, account.id)
    held = keys.list_keys(desk, actor, ListPage(_MOST_KEYS), account.id).data
    found = trend(desk, actor, "30d", "model", account=account.id, timed=False)
    series = [
        Series(
            visit.gettext("Others") if group.rest else group.name or visit.gettext("No such model"),
            [step.cost / 10**9 for step in group.steps],
        )
        for group in found.groups
    ]
    chart = Chart(found.times, series, "usd")
    return Html(
        "billing.html",
        {
            "one": account,
            "known": known if len(known) > 1 and visit.account is None else [],
            "prepaid": desk.prepaid() if account.prepaid is None else account.prepaid,
            "months": months,
            "running": running,
            "moved": moved,
            "kinds": KINDS,
            "periods": PERIODS,
            "budgeted": [key for key in held if key.budget and key.state in ("live", "stopped")],
            "spent": spent(account),
            "chart_drawn": None if chart.empty else chart.draw(visit.language),
        },
    )


def month(visit: Visit) -> Reply:
    """The statement of a month."""
    made = _statement(visit)
    return Html(
        "billing_month.html",
        {
            "made": made,
            "kinds": KINDS,
            "by_model": _sums(made.lines, lambda line: line.model),
            "by_day": sorted(_sums(made.lines, lambda line: line.day)),
        },
    )


def csv(visit: Visit) -> Reply:
    """The same as CSV, line by line."""
    made = _statement(visit)
    return _file(statements.statement_csv(made).encode(), "text/csv; charset=utf-8", made, "csv")


def json(visit: Visit) -> Reply:
    """The same as the admin API gives it."""
    made = _statement(visit)
    return _file(msgspec.json.encode(made), "application/json", made, "json")


def usage(visit: Visit) -> Reply:
    """Usage as a file: a row per hour, account, key and model, of whole days in UTC."""
    query, desk = visit.query, visit.parts.desk
    account = query.get("account") or visit.account
    form: exports.Format = "jsonl" if query.get("format") == "jsonl" else "csv"
    try:
        since = moment_of(query.get("since") or None, "since")
        until = moment_of(query.get("until") or None, "until")
        until = None if until is None else until + _DAY_S
        pieces = exports.export_usage(
            desk, visit.actor, form, since=since, until=until, account=account
        )
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        to = f"{HOME}?{urlencode({'account': account})}" if account else HOME
        return Redirect(to, visit.gettext("Write days such as 2026-12-31."), "bad")
    media_type = "text/csv" if form == "csv" else "application/x-ndjson"
    headers = {"content-disposition": f'attachment; filename="usage.{form}"'}
    return StreamingResponse(pieces, 200, headers, f"{media_type}; charset=utf-8")


# For other pages.


def chosen(visit: Visit, known: list[AccountView]) -> AccountView:
    """The account looked at; the first one where none is chosen."""
    wanted = visit.query.get("account") or visit.account
    if wanted:
        return accounts.get_account(visit.parts.desk, visit.actor, wanted)
    if not known:
        raise no_such("account", "default")
    return known[0]


# Our own.


def _statement(visit: Visit) -> Statement:
    """Raises Refused: 404 also for what is no month."""
    path = visit.path
    try:
        return statements.statement(visit.parts.desk, visit.actor, path["account"], path["month"])
    except Refused as refused:
        if refused.problem.status != 400:
            raise
        raise no_such("statement of", path["month"]) from None


def _sums(
    lines: Iterable[ChargeLine], by: Callable[[ChargeLine], str]
) -> list[tuple[str, int, int, int, str]]:
    """Name, requests, tokens in, tokens out and dollars; the dearest first."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    amounts: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        name = by(line)
        for place, number in enumerate((line.requests, line.tokens_in, line.tokens_out)):
            counts[name][place] += number
        amounts[name] += Decimal(line.amount_usd)
    dearest = sorted(amounts, key=lambda name: (-amounts[name], name))
    return [
        (name, counts[name][0], counts[name][1], counts[name][2], f"{amounts[name]:f}")
        for name in dearest
    ]


def _file(content: bytes, media_type: str, made: Statement, ending: str) -> Response:
    name = f"statement-{made.account}-{made.month}.{ending}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


PAGES = (
    Page("GET", HOME, SIGNED_IN, index),
    Page("GET", f"{HOME}/usage", SIGNED_IN, usage),
    Page("GET", f"{HOME}/{{account}}/{{month}}", SIGNED_IN, month),
    Page("GET", f"{HOME}/{{account}}/{{month}}/csv", SIGNED_IN, csv),
    Page("GET", f"{HOME}/{{account}}/{{month}}/json", SIGNED_IN, json),
)
