"""What signs a webhook that waits."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the column."""
    op.add_column("outbox", sa.Column("secret", sa.String(200)))
