"""Statements of closed months; keys whose text is renewed; admin tokens for one account."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table and add the columns."""
    op.create_table(
        "statement",
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("month", sa.String(7), nullable=False),
        sa.Column("start_ms", sa.BigInteger, nullable=False),
        sa.Column("end_ms", sa.BigInteger, nullable=False),
        sa.Column("closing", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("account", "month", name="pk_statement"),
    )
    op.add_column("api_key", sa.Column("previous_hash", sa.LargeBinary(32)))
    op.add_column("api_key", sa.Column("previous_until", sa.BigInteger))
    op.add_column("admin_token", sa.Column("account", sa.String(40)))
