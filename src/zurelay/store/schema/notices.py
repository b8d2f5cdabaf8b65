"""What people are told by mail and webhook; what was stored of requests; failed sign-ins."""

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from zurelay.store.schema.metadata import metadata

outbox = Table(
    "outbox",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("created_ms", BigInteger, nullable=False),
    Column("kind", String(20), nullable=False),  # mail, webhook
    Column("target", String(2000), nullable=False),  # an e-mail address or a URL
    Column("account", String(40)),  # whose it is; null: the operators'
    Column("subject", String(300), nullable=False),
    Column("body", Text, nullable=False),  # of a webhook: its JSON; emptied once it is over
    Column("tries", Integer, nullable=False),
    Column("due_ms", BigInteger),  # when it is tried next; null: it is over
    Column("sent_ms", BigInteger),  # when it was taken; null and over: it was given up
    Column("problem", String(500)),  # why the last try failed
    Column("secret", String(200)),  # signs a webhook; emptied with its body
    Index("ix_outbox_due_ms", "due_ms"),
    Index("ix_outbox_created_ms", "created_ms"),
)
"""Mail and webhooks to be sent, committed with what they tell of, so that neither is lost."""

alert = Table(
    "alert",
    metadata,
    Column("event", String(200), primary_key=True),  # names one happening; told only once
    Column("kind", String(40), nullable=False),  # budget, balance, route_down ...
    Column("account", String(40)),  # null: the operators'
    Column("raised_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),  # null: it holds still, or has no end
    Column("detail", Text, nullable=False),  # a JSON object; never a secret
    Column("subject", String(200)),  # what it is about: a wallet's id, route_down:ROUTE ...
    Column("seen_ms", BigInteger),  # when a node last saw that it holds
    Index("ix_alert_account_raised_ms", "account", "raised_ms"),
    Index("ix_alert_raised_ms", "raised_ms"),
    Index("ix_alert_subject", "subject"),
)
"""What people were told of, each happening once."""

alert_target = Table(
    "alert_target",
    metadata,
    Column("account", String(40), primary_key=True),
    Column("emails", Text, nullable=False),  # a JSON array of addresses
    Column("webhook", String(2000)),
    Column("secret", String(100)),  # signs the webhook's bodies
    Column("changed", BigInteger, nullable=False),
)
"""Where an account wants its alerts."""

content = Table(
    "content",
    metadata,
    Column("request", String(40), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("account", String(40), nullable=False),
    Column("api_key", String(40), nullable=False),
    Column("end_user", String(256)),
    Column("expires", BigInteger, nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # body and answer, compressed, encrypted
    Index("ix_content_expires", "expires"),
    Index("ix_content_account", "account"),
    Index("ix_content_api_key", "api_key"),
)
"""What was asked and answered with keys that have it stored."""

sign_in_failure = Table(
    "sign_in_failure",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("who", String(64), nullable=False),  # a digest of an address, a person, or both
    Column("at_ms", BigInteger, nullable=False),
    Index("ix_sign_in_failure_who_at_ms", "who", "at_ms"),
    Index("ix_sign_in_failure_at_ms", "at_ms"),
)
"""Tries to sign in that failed, for all nodes to see; some minutes old at most."""
