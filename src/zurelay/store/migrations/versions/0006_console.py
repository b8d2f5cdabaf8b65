"""People who sign in to the console, their sessions, and the links that let them in."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "person",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.String(200)),
        sa.Column("language", sa.String(10)),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sa.UniqueConstraint("email", name="uq_person_email"),
    )
    op.create_table(
        "console_session",
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sa.Column("person", sa.String(40), nullable=False),
        sa.Column("roles", sa.LargeBinary(32), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("agent", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_console_session"),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name="fk_console_session_person"),
    )
    op.create_index("ix_console_session_person", "console_session", ["person"])
    op.create_table(
        "console_link",
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_console_link"),
    )
    op.create_index("ix_console_link_email", "console_link", ["email"])
