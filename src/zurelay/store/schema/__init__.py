"""The tables, in words that SQLite and PostgreSQL share.

Times are Unix seconds unless a name says `_ms`; money is nano-dollars. The migrations make these
tables; a test holds both together.
"""

from zurelay.store.schema.access import (
    account,
    admin_token,
    audit,
    key,
    member,
    meta,
)
from zurelay.store.schema.log import (
    TOKENS,
    USAGE,
    request,
    usage_day,
    usage_day_key,
    usage_hour,
    usage_hour_key,
    usage_hour_model,
    usage_provider_hour,
)
from zurelay.store.schema.metadata import (
    metadata,
)
from zurelay.store.schema.money import (
    entry,
    lease,
    node,
    price,
    repeat,
    route_report,
    statement,
    stop,
    transfer,
    wallet,
)
from zurelay.store.schema.notices import (
    alert,
    alert_target,
    content,
    outbox,
    sign_in_failure,
)
from zurelay.store.schema.people import (
    console_link,
    console_session,
    person,
    support_message,
    support_thread,
)

__all__ = [
    "TOKENS",
    "USAGE",
    "account",
    "admin_token",
    "alert",
    "alert_target",
    "audit",
    "console_link",
    "console_session",
    "content",
    "entry",
    "key",
    "lease",
    "member",
    "meta",
    "metadata",
    "node",
    "outbox",
    "person",
    "price",
    "repeat",
    "request",
    "route_report",
    "sign_in_failure",
    "statement",
    "stop",
    "support_message",
    "support_thread",
    "transfer",
    "usage_day",
    "usage_day_key",
    "usage_hour",
    "usage_hour_key",
    "usage_hour_model",
    "usage_provider_hour",
    "wallet",
]
