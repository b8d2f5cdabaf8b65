"""The request log, and its sums."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
)

from zurelay.store.schema.metadata import metadata

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
