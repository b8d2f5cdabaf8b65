"""The books of a running gateway: money paid in, and whether all of it is where it should be."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import text

from tests.app.conftest import Answer, Caller
from zurelay.access.accounts import Account, Budget
from zurelay.live.ledger import JournalLedger
from zurelay.meter.record import RequestRecord
from zurelay.store import wallets
from zurelay.store.accounts import list_accounts
from zurelay.store.keys import list_keys
from zurelay.store.requests import Filter, list_requests
from zurelay.store.terms import budget_columns, change_account, change_key
from zurelay.testing.gateway import RunningGateway

PREPAID = "[billing]\nprepaid = true\n"
HI = [{"role": "user", "content": "Hi"}]
ENDPOINTS = ("/v1/chat/completions", "/v1/messages", "/v1/responses")
LIMITS = {
    "/v1/chat/completions": "max_completion_tokens",
    "/v1/messages": "max_tokens",
    "/v1/responses": "max_output_tokens",
}


class Books:
    """What a gateway's account has, owes and spent. All amounts in nano-dollars."""

    def __init__(self, gateway: RunningGateway) -> None:
        self.gateway = gateway
        self.paid_in = 0

    @property
    def ledger(self) -> JournalLedger:
        return self.gateway.process._parts.ledger

    @property
    def account(self) -> Account:
        with self.gateway.store.read() as connection:
            return list_accounts(connection)[0]

    def pay_in(self, amount: int) -> None:
        """As `zurelay credit` does."""
        with self.gateway.store.write() as connection:
            wallets.add_available(connection, wallets.account_balance(self.account.id), amount)
        self.paid_in += amount

    async def set_account(self, *, budget: Budget | None = None, **columns: Any) -> None:
        """Change the account's terms, and wait until the gateway knows."""
        if budget is not None:
            columns |= budget_columns(budget)
        with self.gateway.store.write() as connection:
            change_account(connection, list_accounts(connection)[0].id, columns)
        await self.gateway.process._parts.keys._ask()

    async def set_key(self, *, budget: Budget | None = None, **columns: Any) -> None:
        """Change the first key's terms, and wait until the gateway knows."""
        if budget is not None:
            columns |= budget_columns(budget)
        with self.gateway.store.write() as connection:
            change_key(connection, list_keys(connection)[0].id, columns)
        await self.gateway.process._parts.keys._ask()

    async def row(self, answer: Answer, note: str = "") -> RequestRecord:
        """The log entry of an answered request; nothing is held any more."""
        await self.released(note)
        found = await self.ledger.read(answer.headers["x-request-id"], None)
        assert found is not None
        return found

    async def released(self, note: str = "") -> None:
        """Wait until nothing is under way; then nothing is held."""
        while self.gateway.process._gateway.core.runs:
            await asyncio.sleep(0.001)
        ledger = self.ledger
        assert (ledger.held, ledger.holds) == (0, 0), note
        assert all(one.held == 0 for one in ledger.wallets._slices.values()), note

    def rows(self) -> list[RequestRecord]:
        """The request log, oldest first."""
        with self.gateway.store.read() as connection:
            return list_requests(connection, Filter(), 10**6)[::-1]

    def balance(self) -> int:
        with self.gateway.store.read() as connection:
            return wallets.balance(connection, f"balance:{self.account.id}")

    async def audit(self, note: str = "") -> list[RequestRecord]:
        """Everything adds up and nothing is held; gives the log."""
        await self.released(note)
        ledger = self.ledger
        self.gateway.process._gateway.core.refusals.flush()
        while ledger.unlogged():
            await asyncio.sleep(0.005)
        rows = self.rows()
        slices = ledger.wallets._slices
        assert len({row.id for row in rows}) == len(rows), note
        assert all(row.status != "running" for row in rows), note
        balance = f"balance:{self.account.id}"
        paid = sum(row.postings.get(balance, 0) for row in rows)
        costs = sum(row.cost for row in rows)
        with self.gateway.store.read() as connection:
            left = wallets.balance(connection, balance)
            granted = wallets.leased(connection, ledger._journal.id)
            leases = connection.execute(text("SELECT wallet, spent FROM lease"))
            spent = {wallet: int(amount) for wallet, amount in leases}
            entered = connection.execute(text("SELECT debit, sum(amount) FROM entry GROUP BY 1"))
            debits = {debit: int(amount) for debit, amount in entered}
        assert left == self.paid_in - paid, note
        assert debits.get(balance, 0) == paid, note
        assert sum(debits.values()) == costs, note
        assert ledger.overrun >= debits.get("overrun", 0) == costs - paid, note
        for name, one in slices.items():  # memory and store say the same
            assert one.free == granted.get(name, 0) - spent.get(name, 0), (note, name)
        return rows


async def post(
    caller: Caller, path: str, headers: Mapping[str, str] | None = None, **fields: Any
) -> Answer:
    """Ask an endpoint `Hi`; `limit` is the token limit by whatever name it has there."""
    extra = {**caller.gateway.headers, **(headers or {}), "content-type": "application/json"}
    return await caller.send("POST", path, json.dumps(body(path, **fields)).encode(), extra)


def body(path: str, limit: int | None = None, **fields: Any) -> dict[str, Any]:
    """A request body for that endpoint."""
    asked: dict[str, Any] = {"model": "test-model"}
    if path == "/v1/embeddings":
        return {**asked, "input": "Hi", **fields}
    if path == "/v1/messages":
        limit = 1000 if limit is None else limit
    asked["input" if path == "/v1/responses" else "messages"] = HI
    if limit is not None:
        asked[LIMITS[path]] = limit
    return {**asked, **fields}
