"""What differs for a key in the smart choice."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column."""
    op.add_column("api_key", sa.Column("auto", sa.Text))
