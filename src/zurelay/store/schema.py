"""The tables, in words that SQLite and PostgreSQL share.

Times are Unix seconds unless a name says `_ms`; money is nano-dollars. The migrations make these
tables; a test holds both together.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

meta = Table(
    "meta",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("value", BigInteger, nullable=False),
)
"""Counters: `access` rises with every change of keys, accounts and admin tokens; `journal:ID` is
how far that journal was moved into the log."""

account = Table(
    "account",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("prepaid", Boolean),  # null: as the configuration says
    Column("budget", BigInteger),
    Column("budget_period", String(10)),
    Column("zone", String(64)),  # of its budgets' periods and statements; null: UTC
    Column("rpm", Integer),
    Column("tpm", BigInteger),
    Column("concurrency", Integer),
    Column("markup", String(30)),  # a decimal factor on prices; null: as the configuration says
    Column("stopped", BigInteger),  # since when its keys are refused
)

member = Table(
    "member",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("account", String(40), ForeignKey("account.id"), nullable=False, index=True),
    Column("email", String(254), nullable=False),
    Column("name", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("removed", BigInteger),
    UniqueConstraint("account", "email"),
)

key = Table(
    "api_key",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("account", String(40), ForeignKey("account.id"), nullable=False, index=True),
    Column("hash", LargeBinary(32), nullable=False, unique=True),
    Column("last4", String(4), nullable=False),
    Column("models", Text),  # a JSON array; null allows every model
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
    Column("budget", BigInteger),
    Column("budget_period", String(10)),
    Column("rpm", Integer),
    Column("tpm", BigInteger),
    Column("concurrency", Integer),
    Column("last_used", BigInteger),
    Column("markup", String(30)),  # a decimal factor on prices, instead of its account's
    Column("previous_hash", LargeBinary(32)),  # of its text before it was rotated
    Column("previous_until", BigInteger),  # until when that text works too
    Column("auto", Text),  # a JSON object: what differs for it in the smart choice
)

admin_token = Table(
    "admin_token",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("hash", LargeBinary(32), nullable=False, unique=True),
    Column("last4", String(4), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("revoked", BigInteger),
    Column("account", String(40)),  # what it is confined to; null for nothing
)

request = Table(
    "request",
    metadata,
    Column("at_ms", BigInteger, nullable=False),
    Column("id", String(40), nullable=False),
    Column("account", String(40), nullable=False),
    Column("api_key", String(40), nullable=False),
    Column("model", String(200), nullable=False),
    Column("answered_by", String(200)),
    Column("status", String(20), nullable=False),
    Column("error", String(100)),
    Column("cost", BigInteger, nullable=False),
    Column("cost_estimated", Boolean, nullable=False),
    Column("end_user", String(256)),
    Column("record", Text, nullable=False),
    # The time comes first, so that a later release can divide the table by it.
    PrimaryKeyConstraint("at_ms", "id"),
    Index("ix_request_account_at_ms", "account", "at_ms"),
    Index("ix_request_api_key_at_ms", "api_key", "at_ms"),
    sqlite_with_rowid=False,
)
"""The request log. `record` is the whole entry as JSON; the other columns repeat what is searched
by. No foreign keys: an entry outlives its key."""

TOKENS = (
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "output",
    "audio_output",
    "reasoning",
)
"""The token counts of `chat.usage.Usage`, which are columns of `usage_hour` too."""

usage_hour = Table(
    "usage_hour",
    metadata,
    Column("hour", BigInteger, nullable=False),  # hours since 1970
    Column("account", String(40), nullable=False),
    Column("api_key", String(40), nullable=False),
    Column("model", String(200), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("errors", BigInteger, nullable=False),
    Column("estimated", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in TOKENS),
    PrimaryKeyConstraint("hour", "account", "api_key", "model", "shard"),
    Index("ix_usage_hour_api_key", "api_key"),
    sqlite_with_rowid=False,
)
"""Sums of the log, written in the same transactions, kept when old entries are deleted.

Each node adds to the rows of its own `shard`, so that nodes do not wait for each other's commits;
who reads adds the shards up."""

usage_day = Table(
    "usage_day",
    metadata,
    Column("day", BigInteger, nullable=False),  # days since 1970, in UTC
    Column("account", String(40), nullable=False),
    Column("api_key", String(40), nullable=False),
    Column("model", String(200), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("errors", BigInteger, nullable=False),
    Column("estimated", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in TOKENS),
    PrimaryKeyConstraint("day", "account", "api_key", "model", "shard"),
    Index("ix_usage_day_account_day", "account", "day"),
    Index("ix_usage_day_api_key_day", "api_key", "day"),
    sqlite_with_rowid=False,
)
"""The same sums by day: a month is thirty rows where `usage_hour` has seven hundred."""

USAGE = ("requests", "errors", "estimated", "cost", *TOKENS)
"""The sums of all tables of usage but that of providers."""

usage_hour_model = Table(
    "usage_hour_model",
    metadata,
    Column("hour", BigInteger, nullable=False),
    Column("model", String(200), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in USAGE),
    PrimaryKeyConstraint("hour", "model", "shard"),
    sqlite_with_rowid=False,
)
"""Sums over all keys, for questions about the whole gateway: there are as few of these rows with
ten thousand keys as with one."""

usage_hour_key = Table(
    "usage_hour_key",
    metadata,
    Column("hour", BigInteger, nullable=False),
    Column("account", String(40), nullable=False),
    Column("api_key", String(40), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in USAGE),
    PrimaryKeyConstraint("hour", "account", "api_key", "shard"),
    sqlite_with_rowid=False,
)
"""Sums over all models."""

usage_day_key = Table(
    "usage_day_key",
    metadata,
    Column("day", BigInteger, nullable=False),
    Column("account", String(40), nullable=False),
    Column("api_key", String(40), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in USAGE),
    PrimaryKeyConstraint("day", "account", "api_key", "shard"),
    sqlite_with_rowid=False,
)
"""The same by day."""

usage_provider_hour = Table(
    "usage_provider_hour",
    metadata,
    Column("hour", BigInteger, nullable=False),
    Column("provider", String(100), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),  # attempts that were answered
    Column("failed", BigInteger, nullable=False),  # attempts that were not
    Column("cost", BigInteger, nullable=False),  # what callers were charged
    Column("upstream_cost", BigInteger, nullable=False),  # what the provider asks for it
    Column("lost", BigInteger, nullable=False),  # what it may ask for attempts nobody pays for
    *(Column(name, BigInteger, nullable=False) for name in TOKENS),
    PrimaryKeyConstraint("hour", "provider", "shard"),
    sqlite_with_rowid=False,
)
"""Sums by provider, to set beside its invoice; written with the entries as `usage_hour` is."""

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
    Column("kind", String(20), nullable=False),  # model, provider
    Column("name", String(200), nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("note", String(500), nullable=False),
    PrimaryKeyConstraint("kind", "name"),
)
"""Models and providers that are not to be asked, on any node, until somebody resumes them."""

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

audit = Table(
    "audit",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("at_ms", BigInteger, nullable=False, index=True),
    Column("actor", String(200), nullable=False),
    Column("action", String(100), nullable=False),
    Column("target", String(200), nullable=False),
    Column("account", String(40), index=True),
    Column("detail", Text, nullable=False),  # a JSON object; never a secret
)
"""Every change that a person or program made."""

person = Table(
    "person",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("email", String(254), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("password", String(200)),  # Argon2id, with its parameters; null: none was set yet
    Column("language", String(10)),  # null: as the browser asks
    Column("created", BigInteger, nullable=False),
)
"""Who may sign in to the console. What they may do there, their memberships say: the members with
the same e-mail address."""

console_session = Table(
    "console_session",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),  # of the cookie's text
    Column("person", String(40), ForeignKey("person.id"), nullable=False, index=True),
    Column("roles", LargeBinary(32), nullable=False),  # a digest of what they were at sign-in
    Column("created", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("agent", String(200), nullable=False),
)

console_link = Table(
    "console_link",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),  # of the link's secret part
    Column("kind", String(20), nullable=False),  # sign-in, invitation, password
    Column("email", String(254), nullable=False),
    Column("name", String(200), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Index("ix_console_link_email", "email"),
)
"""Links that let somebody in once. A used one is gone."""

support_thread = Table(
    "support_thread",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("account", String(40), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("request", String(40)),  # that it is about
    Column("created_ms", BigInteger, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
    Column("asked_ms", BigInteger, nullable=False),  # last message of a member; 0 for none
    Column("answered_ms", BigInteger, nullable=False),  # last one of an operator; 0 for none
    Column("members_read_ms", BigInteger, nullable=False),
    Column("operators_read_ms", BigInteger, nullable=False),
    Column("closed", BigInteger),
    Index("ix_support_thread_account_changed_ms", "account", "changed_ms"),
    Index("ix_support_thread_changed_ms", "changed_ms"),
)
"""Questions of an account's members to whoever runs the gateway."""

support_message = Table(
    "support_message",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("thread", String(40), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("author", String(200), nullable=False),
    Column("name", String(200), nullable=False),
    Column("operator", Boolean, nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_support_message_thread_at_ms", "thread", "at_ms"),
)
