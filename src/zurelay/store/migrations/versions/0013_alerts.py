"""What an alert is about and when it was last seen; what a balance was after its last credit."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("alert", sa.Column("subject", sa.String(200)))
    op.add_column("alert", sa.Column("seen_ms", sa.BigInteger()))
    op.create_index("ix_alert_subject", "alert", ["subject"])
    op.add_column("wallet", sa.Column("topped", sa.BigInteger()))
    op.add_column("wallet", sa.Column("topped_ms", sa.BigInteger()))
