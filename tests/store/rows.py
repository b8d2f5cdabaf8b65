"""Rows for tests of the store and of what lives above it."""

import msgspec
from sqlalchemy import Connection, func, select

from zurelay.access.accounts import Account
from zurelay.access.keys import Key, hash_key, last4, make_key
from zurelay.chat.usage import Usage
from zurelay.live.ids import Ids
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.store import schema
from zurelay.store.accounts import ensure_account
from zurelay.store.engine import Store

NOON = 1_795_953_600.0  # 2026-11-29 12:00 UTC, a Sunday

ACCOUNT = Account("acct_1", "default", 1000)


class Clock:
    """Unix time that stands still until it is told."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def text_of(seed: int) -> str:
    """A key's text; each seed has its own."""
    return make_key(seed.to_bytes(32, "big"))


def a_key(seed: int = 1, **changes: object) -> Key:
    """A key of `ACCOUNT` whose text is `text_of(seed)`."""
    text = text_of(seed)
    fields: dict[str, object] = {
        "id": f"key_{seed:016x}",
        "name": f"key {seed}",
        "account": ACCOUNT.id,
        "account_name": ACCOUNT.name,
        "hash": hash_key(text),
        "last4": last4(text),
        "created": 1000 + seed,
        "owner": ACCOUNT,
    }
    return Key(**(fields | changes))  # type: ignore[arg-type]


def a_record(at: float = NOON, **changes: object) -> RequestRecord:
    """A settled request of `a_key()`, made at `at`, with an id of its own."""
    record = RequestRecord(
        id=Ids(lambda: at).request(),
        created=at,
        account=ACCOUNT.id,
        key="key_0000000000000001",
        endpoint="/v1/chat/completions",
        model="gpt-6-sol",
        status="ok",
        http_status=200,
        answered_by="gpt-6-sol",
        usage=Usage(input=100, cached_input=10, output=50, reasoning=20),
        cost=12_345,
        attempts=[Attempt("openai:gpt-6-sol", 1, "gpt-6-sol", "ok", 1.25, 300.5, 50.0)],
        metadata={"team": "docs"},
        dropped=("seed",),
    )
    return msgspec.structs.replace(record, **changes)


def entry(record: RequestRecord) -> tuple[RequestRecord, bytes]:
    """A record with its JSON, as the log takes it."""
    return record, msgspec.json.encode(record)


def with_account(store: Store) -> Store:
    """The same store, with `ACCOUNT` in it."""
    with store.write() as connection:
        ensure_account(connection, ACCOUNT.name, ACCOUNT.id, ACCOUNT.created)
    return store


def spent_by_day(connection: Connection) -> list[tuple[str, int, int]]:
    """What keys ever spent: (key id, days since 1970 in UTC, nano-dollars)."""
    sums = schema.usage_day_key.c
    key, day = sums.api_key, sums.day
    query = select(key, day, func.sum(sums.cost)).group_by(key, day)
    return [(which, when, int(cost)) for which, when, cost in connection.execute(query)]
