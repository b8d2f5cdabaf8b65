"""Accounts, keys, the request log and its hourly sums."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# Compared by bytes: faster than a language's order, and no index depends on the system's locale.
_ID = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
_MODEL = sa.String(200).with_variant(sa.String(200, collation="C"), "postgresql")


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "meta",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("value", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_meta"),
    )
    op.create_table(
        "account",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("name", name="uq_account_name"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sa.Column("last4", sa.String(4), nullable=False),
        sa.Column("models", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger),
        sa.Column("revoked", sa.BigInteger),
        sa.Column("budget", sa.BigInteger),
        sa.Column("budget_period", sa.String(10)),
        sa.Column("rpm", sa.Integer),
        sa.Column("tpm", sa.BigInteger),
        sa.Column("concurrency", sa.Integer),
        sa.Column("last_used", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
        sa.ForeignKeyConstraint(["account"], ["account.id"], name="fk_api_key_account"),
        sa.UniqueConstraint("hash", name="uq_api_key_hash"),
    )
    op.create_index("ix_api_key_account", "api_key", ["account"])
    op.create_table(
        "request",
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("id", _ID, nullable=False),
        sa.Column("account", _ID, nullable=False),
        sa.Column("api_key", _ID, nullable=False),
        sa.Column("model", _MODEL, nullable=False),
        sa.Column("answered_by", sa.String(200)),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("error", sa.String(100)),
        sa.Column("cost", sa.BigInteger, nullable=False),
        sa.Column("cost_estimated", sa.Boolean, nullable=False),
        sa.Column("end_user", sa.String(256)),
        sa.Column("record", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("at_ms", "id", name="pk_request"),
        sqlite_with_rowid=False,
        postgresql_partition_by="RANGE (at_ms)",
    )
    if op.get_context().dialect.name == "postgresql":
        # For entries of days without a partition of their own.
        op.execute("CREATE TABLE request_default PARTITION OF request DEFAULT")
    op.create_index("ix_request_account_at_ms", "request", ["account", "at_ms"])
    op.create_index("ix_request_api_key_at_ms", "request", ["api_key", "at_ms"])
    op.create_table(
        "usage_hour",
        sa.Column("hour", sa.BigInteger, nullable=False),
        sa.Column("account", _ID, nullable=False),
        sa.Column("api_key", _ID, nullable=False),
        sa.Column("model", _MODEL, nullable=False),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("errors", sa.BigInteger, nullable=False),
        sa.Column("estimated", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.BigInteger, nullable=False),
        sa.Column("input", sa.BigInteger, nullable=False),
        sa.Column("cached_input", sa.BigInteger, nullable=False),
        sa.Column("cache_write", sa.BigInteger, nullable=False),
        sa.Column("cache_write_long", sa.BigInteger, nullable=False),
        sa.Column("audio_input", sa.BigInteger, nullable=False),
        sa.Column("output", sa.BigInteger, nullable=False),
        sa.Column("audio_output", sa.BigInteger, nullable=False),
        sa.Column("reasoning", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("hour", "account", "api_key", "model", name="pk_usage_hour"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_usage_hour_api_key", "usage_hour", ["api_key"])
