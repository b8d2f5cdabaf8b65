"""Mail and webhooks, alerts and who wants them, stored messages, failed sign-ins."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the tables."""
    op.add_column("api_key", sa.Column("store_days", sa.Integer))
    _notices()
    _alerts()
    op.create_table(
        "content",
        sa.Column("request", sa.String(40), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("api_key", sa.String(40), nullable=False),
        sa.Column("end_user", sa.String(256)),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("request", name="pk_content"),
    )
    for column in ("expires", "account", "api_key"):
        op.create_index(f"ix_content_{column}", "content", [column])
    op.create_table(
        "sign_in_failure",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("who", sa.String(64), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_failure"),
    )
    op.create_index("ix_sign_in_failure_who_at_ms", "sign_in_failure", ["who", "at_ms"])
    op.create_index("ix_sign_in_failure_at_ms", "sign_in_failure", ["at_ms"])


def _notices() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("target", sa.String(2000), nullable=False),
        sa.Column("account", sa.String(40)),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("due_ms", sa.BigInteger),
        sa.Column("sent_ms", sa.BigInteger),
        sa.Column("problem", sa.String(500)),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_due_ms", "outbox", ["due_ms"])
    op.create_index("ix_outbox_created_ms", "outbox", ["created_ms"])


def _alerts() -> None:
    op.create_table(
        "alert",
        sa.Column("event", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("account", sa.String(40)),
        sa.Column("raised_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("event", name="pk_alert"),
    )
    op.create_index("ix_alert_account_raised_ms", "alert", ["account", "raised_ms"])
    op.create_index("ix_alert_raised_ms", "alert", ["raised_ms"])
    op.create_table(
        "alert_target",
        sa.Column("account", sa.String(40), nullable=False),
        sa.Column("emails", sa.Text, nullable=False),
        sa.Column("webhook", sa.String(2000)),
        sa.Column("secret", sa.String(100)),
        sa.Column("changed", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("account", name="pk_alert_target"),
    )
