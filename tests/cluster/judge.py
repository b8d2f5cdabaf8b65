"""What must hold after a cluster was in motion: of answers, of the log, of money to the nano-dollar.

Reads the database as it is when every node has ended; knows nothing of how it came to be.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, text

from tests.cluster.callers import Asked, Customer
from zurelay.meter.record import RequestRecord
from zurelay.meter.wallets import OVERRUN, balance_of
from zurelay.store.requests import Filter, list_requests

MARGIN_S = 0.3
"""How long before or after a kill a connection may break for it."""
MOST_WRONG = 25
MOST_RESERVED = 260_000
"""Nano-dollars that no request of the callers sets aside: 40 tokens and a short question."""
MOST_COST = 150_000
"""Nano-dollars that none costs."""


@dataclass(slots=True)
class Verdict:
    """What is wrong, and the figures."""

    wrong: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)

    def count(self, what: str, by: int = 1) -> None:
        """Something to tell."""
        self.figures[what] = self.figures.get(what, 0) + by

    def note(self, what: str) -> None:
        """Something that must not be."""
        if len(self.wrong) < MOST_WRONG:
            self.wrong.append(what)


@dataclass(frozen=True, slots=True)
class Times:
    """When what was done to the cluster, by the loop's clock: from, to."""

    killed: Sequence[tuple[float, float]]
    database_away: Sequence[tuple[float, float]]
    valkey_away: Sequence[tuple[float, float]]

    def killed_during(self, asked: Asked) -> bool:
        """Whether a node was killed while that request was under way."""
        return _meets(asked, self.killed, MARGIN_S)

    def killed_soon(self, asked: Asked) -> bool:
        """Whether a node was killed then, or within the second that it counts refusals for."""
        return _meets(asked, [(since - 1.0, until) for since, until in self.killed], MARGIN_S)

    def database_away_during(self, asked: Asked) -> bool:
        """Whether the database was away, or had been a moment before."""
        return _meets(asked, self.database_away, 2.0)

    def apart_during(self, asked: Asked) -> bool:
        """Whether shared state was away, or a node was killed, then or a moment before."""
        return _meets(asked, [*self.valkey_away, *self.killed], 3.0)


def judge_answers(asked: Iterable[Asked], times: Times, verdict: Verdict) -> None:
    """Every failure has a cause that excuses it."""
    for one in asked:
        where = f"{one.tag} ({one.kind}, {one.what}, {one.id})"
        match one.end:
            case "broke off" | "failed":
                if not times.killed_during(one):
                    when = "after tokens" if one.token else "before a token"
                    verdict.note(f"{where}: {one.end} {when}: {one.told}")
            case "refused" if not _may_be_refused(one, times):
                verdict.note(f"{where}: refused with {one.status}: {one.told}")
            case _:
                pass


def _may_be_refused(one: Asked, times: Times) -> bool:
    match one.status:
        case 402:
            return one.kind in ("prepaid", "budget")
        case 429:
            return one.kind == "limited"
        case 503 | 529:  # as Messages says it
            return one.kind in ("prepaid", "budget") and times.database_away_during(one)
        case 409:
            return bool(one.key)
        case _:
            return False


def judge_log(
    asked: Sequence[Asked], rows: Sequence[RequestRecord], times: Times, verdict: Verdict
) -> None:
    """Every answer that a caller saw end is logged once, and nothing that nobody asked for is."""
    by_id = Counter(row.id for row in rows)
    by_tag = Counter(row.client_request_id for row in rows)
    known = {row.id: row for row in rows}
    tags = {one.tag for one in asked}
    apart = 0  # refusals without an entry of their own: many of a key in a second share one
    for id_, count in by_id.items():
        if count != 1:
            verdict.note(f"{id_}: {count} log rows")
    for row in rows:
        if row.client_request_id not in tags:
            verdict.note(f"{row.id}: nobody asked for it")
        if row.status == "running":
            verdict.note(f"{row.id}: the log says it still runs")
    for one in asked:
        where = f"{one.tag} ({one.kind}, {one.what}, {one.id})"
        if by_tag[one.tag] > 1 and not times.killed_during(one):
            verdict.note(f"{where}: {by_tag[one.tag]} log rows for one request")
        # A refusal costs nothing, so it does not wait for its row.
        excused = one.end != "whole" and times.killed_during(one)
        if one.end == "refused" and not by_id[one.id]:
            apart += not times.killed_soon(one)
        elif one.id and not by_id[one.id] and not excused:
            verdict.note(f"{where}: {one.end} {one.status}, and no log row")
        if one.end == "whole" and one.id in known and known[one.id].status != "ok":
            verdict.note(f"{where}: whole, but logged as {known[one.id].status}")
    counted = sum(row.count - 1 for row in rows)
    if apart > counted:
        verdict.note(f"{apart} refusals have no log row, and others count for {counted} of them")


def judge_repeats(
    asked: Sequence[Asked], rows: Sequence[RequestRecord], times: Times, verdict: Verdict
) -> None:
    """What was asked for twice under one Idempotency-Key is charged once.

    It may be answered twice where nodes could not ask each other.
    """
    charged = {row.client_request_id for row in rows if row.cost}
    pairs: dict[str, list[Asked]] = defaultdict(list)
    for one in asked:
        if one.key:
            pairs[one.key].append(one)
    for key, both in pairs.items():
        paid = [one.tag for one in both if one.tag in charged]
        verdict.count("repeats")
        if len(paid) > 1:
            verdict.note(f"{key}: charged for {' and '.join(paid)}")
        if len({one.id for one in both if one.end == "whole"}) > 1:
            verdict.count("repeats answered anew")
            if both[0].kind == "prepaid":
                verdict.count("prepaid repeats answered anew")
            if not any(times.apart_during(one) for one in both):
                verdict.note(f"{key}: answered twice: {' and '.join(one.id for one in both)}")


def judge_money(
    connection: Connection,
    customers: Iterable[Customer],
    credited: dict[str, int],
    rows: Sequence[RequestRecord],
    verdict: Verdict,
) -> None:
    """Balances, entries, sums by hour: all of them agree with the log to the nano-dollar."""
    costs: dict[str, int] = defaultdict(int)
    for row in rows:
        costs[row.account] += row.cost
    for account in sorted({customer.account for customer in customers}):
        wallet = balance_of(account)
        paid = credited.get(account, 0) - _balance(connection, wallet)
        overrun = _sum(
            connection,
            "SELECT sum(entry.amount) FROM entry JOIN request USING (at_ms, id)"
            " WHERE debit = :debit AND account = :account",
            debit=OVERRUN,
            account=account,
        )
        if paid + overrun != costs[account]:
            verdict.note(
                f"{account}: its requests cost {costs[account]}, its balance gave {paid}, the"
                f" operator {overrun}"
            )
        if overrun:
            verdict.note(f"{account}: the operator bore {overrun}")
        taken = _sum(connection, "SELECT sum(amount) FROM entry WHERE debit = :debit", debit=wallet)
        if taken != paid:
            verdict.note(f"{account}: entries take {taken}, its balance gave {paid}")
        for table in ("usage_hour", "usage_day"):
            summed = _sum(
                connection,
                f"SELECT sum(cost) FROM {table} WHERE account = :account",  # noqa: S608
                account=account,
            )
            if summed != costs[account]:
                verdict.note(f"{account}: {table} says {summed}, the log {costs[account]}")
    _judge_entries(connection, rows, verdict)
    _judge_budgets(connection, rows, verdict)


def judge_rest(connection: Connection, last: Asked, wallet: str, verdict: Verdict) -> None:
    """A balance that was spent until a request was refused has less than one may cost.

    What a node took for an answer that turned out to be a repeat's second is out of reach until
    that node ends.
    """
    left = _balance(connection, wallet)
    verdict.figures["left"] = left
    apart = verdict.figures.get("prepaid repeats answered anew", 0) * MOST_COST
    if left >= MOST_RESERVED + apart:
        verdict.note(f"{wallet}: {left} left, and {last.id} was {last.end}: {last.told}")
    held = connection.execute(
        text("SELECT node, granted - spent FROM lease WHERE wallet = :wallet AND granted > spent"),
        {"wallet": wallet},
    )
    for node, amount in held:
        verdict.note(f"{wallet}: {node} has ended and holds {amount}")


def _judge_entries(connection: Connection, rows: Sequence[RequestRecord], verdict: Verdict) -> None:
    found = connection.execute(text("SELECT id, sum(amount) FROM entry GROUP BY id"))
    entries = {id_: int(amount) for id_, amount in found}
    for row in rows:
        if entries.pop(row.id, 0) != row.cost:
            verdict.note(f"{row.id}: cost {row.cost}, but its entries do not say so")
    for id_ in entries:
        if id_.startswith("req_"):
            verdict.note(f"{id_}: in the ledger, not in the log")


def _judge_budgets(connection: Connection, rows: Sequence[RequestRecord], verdict: Verdict) -> None:
    taken: dict[str, int] = defaultdict(int)
    for row in rows:
        for wallet, amount in row.postings.items():
            taken[wallet] += amount
    budgets = connection.execute(text("SELECT id, budget FROM wallet WHERE budget IS NOT NULL"))
    for wallet, budget in budgets.all():
        left = _balance(connection, wallet)
        if budget - left != taken[wallet]:
            verdict.note(f"{wallet}: {left} left of {budget}, but {taken[wallet]} was taken")


def below_zero(connection: Connection, wallets: Sequence[str]) -> list[str]:
    """Limited wallets that are in debt, and leases from which more was spent than was granted."""
    found = [
        f"{wallet} stands at {amount}"
        for wallet in wallets
        if (amount := _balance(connection, wallet)) < 0
    ]
    leases = connection.execute(
        text("SELECT wallet, node, granted - spent FROM lease WHERE granted < spent")
    )
    found += [
        f"{node} owes {-left} of {wallet}" for wallet, node, left in leases if wallet in wallets
    ]
    return found


def read_rows(connection: Connection) -> list[RequestRecord]:
    """The whole log."""
    return list_requests(connection, Filter(), 10**7)


def _balance(connection: Connection, wallet: str) -> int:
    return _sum(
        connection,
        "SELECT sum(amount) FROM (SELECT available AS amount FROM wallet WHERE id = :wallet"
        " UNION ALL SELECT granted - spent FROM lease WHERE wallet = :wallet) AS part",
        wallet=wallet,
    )


def _sum(connection: Connection, statement: str, **given: object) -> int:
    return int(connection.execute(text(statement), given).scalar_one() or 0)


def _meets(asked: Asked, times: Sequence[tuple[float, float]], margin: float) -> bool:
    return any(
        asked.began - margin <= end and start <= asked.ended + margin for start, end in times
    )
