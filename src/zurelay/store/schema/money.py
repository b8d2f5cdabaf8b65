"""Wallets, leases, the ledger, statements; prices, stops, and which request a repeat is of."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from zurelay.store.schema.metadata import metadata

wallet = Table(
    "wallet",
    metadata,
    Column("id", String(120), primary_key=True),
    Column("account", String(40), nullable=False, index=True),
    Column("owner", String(40), nullable=False, index=True),  # an account's or a key's id
    Column("period", String(20), nullable=False),  # of a budget; empty for a balance
    Column("budget", BigInteger),  # what a budget began with; null for a balance
    Column("available", BigInteger, nullable=False),
    Column("recalled", BigInteger, nullable=False),  # rises when its leases are asked to return
    Column("topped", BigInteger),  # what a balance was after the last credit
    Column("topped_ms", BigInteger),  # when that was
)
"""What may be spent. Its balance is `available` and, of each lease on it, granted less spent."""

lease = Table(
    "lease",
    metadata,
    Column("wallet", String(120), ForeignKey("wallet.id"), nullable=False),
    Column("node", String(40), nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("granted", BigInteger, nullable=False),
    Column("spent", BigInteger, nullable=False),
    Column("held", BigInteger, nullable=False),  # of requests under way, some seconds behind
    Column("expires", BigInteger),  # by the database's clock; null for never
    PrimaryKeyConstraint("wallet", "node"),
    Index("ix_lease_node", "node"),
    sqlite_with_rowid=False,
)
"""The part of a wallet that one node may spend without asking. No other node writes its row."""

node = Table(
    "node",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("epoch", BigInteger, nullable=False),  # rises with each start
    Column("seen", BigInteger, nullable=False),
    Column("spool", BigInteger, nullable=False),  # entries it still has to deliver
)

route_report = Table(
    "route_report",
    metadata,
    Column("node", String(40), primary_key=True),
    Column("name", String(200), nullable=False),  # for people
    Column("told_ms", BigInteger, nullable=False),  # when `routes` was written
    Column("seen_ms", BigInteger, nullable=False),  # when it was last said that it is still so
    Column("routes", Text, nullable=False),  # a JSON object; never a secret
)
"""How routes stand for each process, for people who ask another one. Gone when the process is."""

entry = Table(
    "entry",
    metadata,
    Column("at_ms", BigInteger, nullable=False),
    Column("id", String(40), nullable=False),  # of the request or transfer
    Column("debit", String(120), nullable=False),  # the wallet that gives
    Column("credit", String(120), nullable=False),  # the wallet that takes
    Column("amount", BigInteger, nullable=False),
    PrimaryKeyConstraint("at_ms", "id", "debit"),
    Index("ix_entry_debit_at_ms", "debit", "at_ms"),
    Index("ix_entry_credit_at_ms", "credit", "at_ms"),
    sqlite_with_rowid=False,
)
"""The ledger, double entry: each row takes an amount from one wallet and gives it to another, so
that all wallets together are always zero. Accounts' balances are `balance:ACCOUNT`; the operator's
side is `revenue`, `funding` and `overrun`, which have no row in `wallet`. Never deleted."""

transfer = Table(
    "transfer",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("account", String(40), nullable=False),
    Column("kind", String(20), nullable=False),  # credit, debit, refund
    Column("amount", BigInteger, nullable=False),  # what the balance gained; a debit's is negative
    Column("request", String(40)),  # of a refund
    Column("ref", String(200), nullable=False, unique=True),
    Column("note", String(500), nullable=False),
    Column("actor", String(200), nullable=False),
    Index("ix_transfer_account_at_ms", "account", "at_ms"),
    Index("ix_transfer_request", "request"),
)
"""What people moved, beside what requests cost; `ref` keeps a repeat from moving it twice."""

statement = Table(
    "statement",
    metadata,
    Column("account", String(40), nullable=False),
    Column("month", String(7), nullable=False),  # such as 2026-12
    Column("start_ms", BigInteger, nullable=False),
    Column("end_ms", BigInteger, nullable=False),
    Column("closing", BigInteger, nullable=False),
    Column("document", Text, nullable=False),  # JSON: the statement as it was first given
    Column("created", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "month"),
)
"""Months that are closed. The next one begins where the last one ended, whatever zone its account
has by then. Never changed or deleted."""

price = Table(
    "price",
    metadata,
    Column("model", String(200), nullable=False),
    Column("since", String(10), nullable=False),  # an ISO date; empty for always
    Column("price", Text, nullable=False),  # JSON, as `price` in the configuration
    Column("actor", String(200), nullable=False),
    Column("created", BigInteger, nullable=False),
    PrimaryKeyConstraint("model", "since"),
)
"""Prices set at run time. The configuration file beats them; they beat the catalogue."""

stop = Table(
    "stop",
    metadata,
    Column("kind", String(20), nullable=False),  # model, provider, route
    Column("name", String(200), nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("note", String(500), nullable=False),
    PrimaryKeyConstraint("kind", "name"),
)
"""Models, providers and routes that nobody is to ask, on any node, until they are resumed."""

repeat = Table(
    "idempotency",
    metadata,
    Column("account", String(40), nullable=False),
    Column("hash", LargeBinary(32), nullable=False),  # of the header's value
    Column("request", String(40), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "hash"),
    Index("ix_idempotency_at_ms", "at_ms"),
    sqlite_with_rowid=False,
)
"""Which request an Idempotency-Key was charged for, so that no second one can be."""
