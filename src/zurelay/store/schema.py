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
    String,
    Table,
    Text,
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
    Column("requests", BigInteger, nullable=False),
    Column("errors", BigInteger, nullable=False),
    Column("estimated", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in TOKENS),
    PrimaryKeyConstraint("hour", "account", "api_key", "model"),
    Index("ix_usage_hour_api_key", "api_key"),
    sqlite_with_rowid=False,
)
"""Sums of the log, written in the same transactions, kept when old entries are deleted."""
