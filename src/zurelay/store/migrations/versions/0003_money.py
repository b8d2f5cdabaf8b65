"""Money that is held: wallets, leases, the ledger; members, prices, and who changed what."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TOKENS = (
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "output",
    "audio_output",
    "reasoning",
)


def upgrade() -> None:
    """Add the columns and make the tables."""
    _terms()
    _people()
    _wallets()
    _ledger()
    _sums()


def _terms() -> None:
    for column in (
        sa.Column("prepaid", sa.Boolean),
        sa.Column("budget", sa.BigInteger),
        sa.Column("budget_period", sa.String(10)),
        sa.Column("zone", sa.String(64)),
        sa.Column("rpm", sa.Integer),
        sa.Column("tpm", sa.BigInteger),
        sa.Column("concurrency", sa.Integer),
        sa.Column("markup", sa.String(30)),
        sa.Column("stopped", sa.BigInteger),
    ):
        op.add_column("account", column)
    op.add_column("api_key", sa.Column("markup", sa.String(30)))


def _people() -> None:
    op.create_table(
        "member",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("removed", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_member"),
        sa.ForeignKeyConstraint(["account"], ["account.id"], name="fk_member_account"),
        sa.UniqueConstraint("account", "email", name="uq_member_account_email"),
    )
    op.create_index("ix_member_account", "member", ["account"])
    op.create_table(
        "audit",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("action", sa.String(100), nullable=False),
        sa.Column("target", sa.String(200), nullable=False),
        sa.Column("account", sa.String(40)),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_at_ms", "audit", ["at_ms"])
    op.create_index("ix_audit_account", "audit", ["account"])


def _wallets() -> None:
    op.create_table(
        "wallet",
        sa.Column("id", sa.String(120), nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("owner", sa.String(40), nullable=False),
        sa.Column("period", sa.String(20), nullable=False),
        sa.Column("budget", sa.BigInteger),
        sa.Column("available", sa.BigInteger, nullable=False),
        sa.Column("recalled", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_wallet"),
    )
    op.create_index("ix_wallet_account", "wallet", ["account"])
    op.create_index("ix_wallet_owner", "wallet", ["owner"])
    op.create_table(
        "lease",
        sa.Column("wallet", sa.String(120), nullable=False),
        sa.Column("node", sa.String(40), nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("granted", sa.BigInteger, nullable=False),
        sa.Column("spent", sa.BigInteger, nullable=False),
        sa.Column("held", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger),
        sa.PrimaryKeyConstraint("wallet", "node", name="pk_lease"),
        sa.ForeignKeyConstraint(["wallet"], ["wallet.id"], name="fk_lease_wallet"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_lease_node", "lease", ["node"])
    op.create_table(
        "node",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("spool", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_node"),
    )


def _ledger() -> None:
    op.create_table(
        "entry",
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("debit", sa.String(120), nullable=False),
        sa.Column("credit", sa.String(120), nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("at_ms", "id", "debit", name="pk_entry"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_entry_debit_at_ms", "entry", ["debit", "at_ms"])
    op.create_index("ix_entry_credit_at_ms", "entry", ["credit", "at_ms"])
    op.create_table(
        "transfer",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("request", sa.String(40)),
        sa.Column("ref", sa.String(200), nullable=False),
        sa.Column("note", sa.String(500), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_transfer"),
        sa.UniqueConstraint("ref", name="uq_transfer_ref"),
    )
    op.create_index("ix_transfer_account_at_ms", "transfer", ["account", "at_ms"])
    op.create_index("ix_transfer_request", "transfer", ["request"])
    op.create_table(
        "price",
        sa.Column("model", sa.String(200), nullable=False),
        sa.Column("since", sa.String(10), nullable=False),
        sa.Column("price", sa.Text, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("model", "since", name="pk_price"),
    )
    op.create_table(
        "idempotency",
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sa.Column("request", sa.String(40), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("account", "hash", name="pk_idempotency"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_idempotency_at_ms", "idempotency", ["at_ms"])


def _sums() -> None:
    op.create_table(
        "usage_provider_hour",
        sa.Column("hour", sa.BigInteger, nullable=False),
        sa.Column("provider", sa.String(100), nullable=False),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("failed", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.BigInteger, nullable=False),
        sa.Column("upstream_cost", sa.BigInteger, nullable=False),
        sa.Column("lost", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _TOKENS),
        sa.PrimaryKeyConstraint("hour", "provider", name="pk_usage_provider_hour"),
        sqlite_with_rowid=False,
    )
