"""Questions of members, and what operators answer."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "support_thread",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("request", sa.String(40)),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
        sa.Column("asked_ms", sa.BigInteger, nullable=False),
        sa.Column("answered_ms", sa.BigInteger, nullable=False),
        sa.Column("members_read_ms", sa.BigInteger, nullable=False),
        sa.Column("operators_read_ms", sa.BigInteger, nullable=False),
        sa.Column("closed", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_support_thread"),
    )
    op.create_index(
        "ix_support_thread_account_changed_ms", "support_thread", ["account", "changed_ms"]
    )
    op.create_index("ix_support_thread_changed_ms", "support_thread", ["changed_ms"])
    op.create_table(
        "support_message",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("thread", sa.String(40), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("operator", sa.Boolean, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_support_message"),
    )
    op.create_index("ix_support_message_thread_at_ms", "support_message", ["thread", "at_ms"])
