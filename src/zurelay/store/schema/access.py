"""Accounts, members, keys, admin tokens; what was changed by whom; counters of changes."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from zurelay.store.schema.metadata import metadata

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
    Column("store_days", Integer),  # how long what it asks and is answered is kept; null: not
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
