"""What each process that shares the store says of its routes."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "route_report",
        sa.Column("node", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("told_ms", sa.BigInteger, nullable=False),
        sa.Column("seen_ms", sa.BigInteger, nullable=False),
        sa.Column("routes", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("node", name="pk_route_report"),
    )
