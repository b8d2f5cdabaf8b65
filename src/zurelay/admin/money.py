"""Endpoints for money: credits, debits, refunds, statements, prices."""

from typing import Literal

from msgspec import Struct

from zurelay.admin.endpoint import Call, Endpoint, File, ListView, Nothing, PageQuery, shown
from zurelay.office import money, prices, statements
from zurelay.office.money import Payment, RefundForm, TransferView
from zurelay.office.prices import PriceForm, PriceView
from zurelay.office.statements import MonthView, Statement
from zurelay.office.values import Day, ModelName, Name


class TransfersQuery(PageQuery, forbid_unknown_fields=True):
    """Which transfers."""

    account: Name | None = None


class StatementQuery(Struct, forbid_unknown_fields=True):
    """In which form."""

    format: Literal["json", "csv"] = "json"


class PricesQuery(Struct, forbid_unknown_fields=True):
    """Whose prices."""

    model: ModelName | None = None


class PriceQuery(Struct, forbid_unknown_fields=True):
    """Which price."""

    model: ModelName
    since: Day | None = None


def _list_transfers(call: Call) -> object:
    query = call.query
    return shown(money.list_transfers(call.parts.desk, call.actor, query.page, query.account))


def _credit(call: Call) -> object:
    return money.credit(call.parts.desk, call.actor, call.path["account"], call.body)


def _debit(call: Call) -> object:
    return money.debit(call.parts.desk, call.actor, call.path["account"], call.body)


def _refund(call: Call) -> object:
    return money.refund(call.parts.desk, call.actor, call.path["request"], call.body)


def _list_statements(call: Call) -> object:
    return ListView(statements.list_months(call.parts.desk, call.actor, call.path["account"]))


def _get_statement(call: Call) -> object:
    account, month = call.path["account"], call.path["month"]
    made = statements.statement(call.parts.desk, call.actor, account, month)
    if call.query.format == "json":
        return made
    name = f"statement-{made.account}-{made.month}.csv"
    return File(iter([statements.statement_csv(made)]), "text/csv", name)


def _list_prices(call: Call) -> object:
    return ListView(prices.list_prices(call.parts.desk, call.actor, call.query.model))


def _set_price(call: Call) -> object:
    return prices.set_price(call.parts.desk, call.actor, call.body)


def _delete_price(call: Call) -> object:
    query = call.query
    prices.delete_price(call.parts.desk, call.actor, query.model, query.since)
    return Nothing()


ENDPOINTS = (
    Endpoint(
        "GET",
        "/transfers",
        "listTransfers",
        "List credits, debits and refunds, newest first.",
        "money.read",
        _list_transfers,
        ListView[TransferView],
        TransfersQuery,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/credits",
        "creditAccount",
        "Add to an account's balance, once per ref.",
        "money.change",
        _credit,
        TransferView,
        body=Payment,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/debits",
        "debitAccount",
        "Take from an account's balance, once per ref.",
        "money.change",
        _debit,
        TransferView,
        body=Payment,
    ),
    Endpoint(
        "POST",
        "/requests/{request}/refunds",
        "refundRequest",
        "Give back what a request cost, or a part of it, once per ref.",
        "money.change",
        _refund,
        TransferView,
        body=RefundForm,
    ),
    Endpoint(
        "GET",
        "/accounts/{account}/statements",
        "listStatements",
        "List the months of an account, newest first.",
        "money.read",
        _list_statements,
        ListView[MonthView],
    ),
    Endpoint(
        "GET",
        "/accounts/{account}/statements/{month}",
        "getStatement",
        "Get an account's statement of a month such as 2026-12.",
        "money.read",
        _get_statement,
        Statement,
        StatementQuery,
        media_types=("application/json", "text/csv"),
    ),
    Endpoint(
        "GET",
        "/prices",
        "listPrices",
        "List prices that were set, by model and day.",
        "prices.read",
        _list_prices,
        ListView[PriceView],
        PricesQuery,
    ),
    Endpoint(
        "PUT",
        "/prices",
        "setPrice",
        "Set what a model costs, always or from a day on.",
        "prices.change",
        _set_price,
        PriceView,
        body=PriceForm,
    ),
    Endpoint(
        "DELETE",
        "/prices",
        "deletePrice",
        "Take a price back that was set.",
        "prices.change",
        _delete_price,
        query=PriceQuery,
    ),
)
