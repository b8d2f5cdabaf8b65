"""Who signs in to the console, and what they write there."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Table,
    Text,
)

from zurelay.store.schema.metadata import metadata

person = Table(
    "person",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("email", String(254), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("password", String(200)),  # Argon2id, with its parameters; null: none was set yet
    Column("language", String(10)),  # null: as the browser asks
    Column("created", BigInteger, nullable=False),
)
"""Who may sign in to the console. What they may do there, their memberships say: the members with
the same e-mail address."""

console_session = Table(
    "console_session",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),  # of the cookie's text
    Column("person", String(40), ForeignKey("person.id"), nullable=False, index=True),
    Column("roles", LargeBinary(32), nullable=False),  # a digest of what they were at sign-in
    Column("created", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("agent", String(200), nullable=False),
)

console_link = Table(
    "console_link",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),  # of the link's secret part
    Column("kind", String(20), nullable=False),  # sign-in, invitation, password
    Column("email", String(254), nullable=False),
    Column("name", String(200), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Index("ix_console_link_email", "email"),
)
"""Links that let somebody in once. A used one is gone."""

support_thread = Table(
    "support_thread",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("account", String(40), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("request", String(40)),  # that it is about
    Column("created_ms", BigInteger, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
    Column("asked_ms", BigInteger, nullable=False),  # last message of a member; 0 for none
    Column("answered_ms", BigInteger, nullable=False),  # last one of an operator; 0 for none
    Column("members_read_ms", BigInteger, nullable=False),
    Column("operators_read_ms", BigInteger, nullable=False),
    Column("closed", BigInteger),
    Index("ix_support_thread_account_changed_ms", "account", "changed_ms"),
    Index("ix_support_thread_changed_ms", "changed_ms"),
)
"""Questions of an account's members to whoever runs the gateway."""

support_message = Table(
    "support_message",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("thread", String(40), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("author", String(200), nullable=False),
    Column("name", String(200), nullable=False),
    Column("operator", Boolean, nullable=False),
    Column("body", Text, nullable=False),
    Index("ix_support_message_thread_at_ms", "thread", "at_ms"),
)
