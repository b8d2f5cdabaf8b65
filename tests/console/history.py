"""A month of requests as a busy team leaves them behind, for pages that show history."""

import random
import time
from collections.abc import Iterator

import msgspec

from tests.console.people import OWNER
from zurelay.chat.usage import Usage
from zurelay.live.ids import Ids
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.office.accounts import get_account
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.store.engine import Store
from zurelay.store.requests import add_requests

MODELS = (
    ("claude-opus-5-5", 4000, 20000, 900),
    ("gpt-6-sol", 2500, 14000, 650),
    ("gemini-3-pro", 1250, 10000, 700),
    ("deepseek-v4", 280, 420, 1200),
    ("claude-haiku-5", 800, 4000, 350),
)
"""Id, nano-dollars per input and output token, usual milliseconds to the first token."""

USERS = ("ann@example.com", "bob@example.com", "build-bot", None)


def requests(
    now: float, count: int, account: str, keys: tuple[str, ...], days: float = 30, seed: int = 7
) -> Iterator[RequestRecord]:
    """Settled requests, spread over the days before `now`."""
    chance = random.Random(seed)
    for _ in range(count):
        at = now - days * 86_400 * chance.random() ** 1.4
        model, dear_in, dear_out, usual = chance.choices(MODELS, (5, 4, 3, 3, 6))[0]
        failed = chance.random() < 0.03
        tokens = Usage(
            input=int(chance.lognormvariate(6.5, 1)),
            cached_input=int(chance.lognormvariate(6, 1.5)),
            output=int(chance.lognormvariate(5.5, 1)),
            reasoning=0,
        )
        first = usual * chance.lognormvariate(0, 0.4)
        whole = first + (tokens.output * 12)
        cost = 0 if failed else tokens.input * dear_in + tokens.output * dear_out
        yield RequestRecord(
            id=Ids(lambda at=at: at).request(),  # type: ignore[misc]
            created=at,
            account=account,
            key=chance.choice(keys),
            endpoint="/v1/chat/completions",
            model=model,
            answered_by=None if failed else model,
            status="error" if failed else "ok",
            http_status=502 if failed else 200,
            error="upstream_failed" if failed else None,
            usage=None if failed else tokens,
            cost=cost,
            first_token_ms=None if failed else first,
            duration_ms=whole,
            user=chance.choice(USERS),
            attempts=[
                Attempt(
                    route=f"provider:{model}",
                    number=1,
                    model=model,
                    status="failed" if failed else "ok",
                    start_ms=1.0,
                    first_token_ms=None if failed else first,
                    end_ms=whole,
                    reason="overloaded" if failed else None,
                )
            ],
        )


def write(store: Store, records: Iterator[RequestRecord]) -> None:
    """Write them as the gateway does."""
    batch = []
    for record in records:
        batch.append((record, msgspec.json.encode(record)))
        if len(batch) == 2000:
            with store.write() as connection:
                add_requests(connection, batch)
            batch = []
    if batch:
        with store.write() as connection:
            add_requests(connection, batch)


def logged(store: Store, **changes: object) -> RequestRecord:
    """Write one request of a moment ago, by a key of its own of the account `default`."""
    desk = Desk(store)
    account = get_account(desk, OWNER, "default")
    key = create_key(desk, OWNER, NewKey("tool")).details
    (one,) = requests(time.time(), 1, account.id, (key.id,), days=0.001)
    changed = msgspec.structs.replace(one, **changes)
    write(store, iter([changed]))
    return changed
