"""`python -m bench.log_scale`: the request log at a million rows and more, on both databases.

Writes entries through the store's own code into a temporary folder, thirty days of them, and asks
what pages and commands ask. Figures go to stdout, a line of JSON for each part.
"""

import argparse
import contextlib
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec
from sqlalchemy import text

from tests.servers import postgresql_server
from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.store import schema
from zurelay.store.engine import Store, open_store
from zurelay.store.partitions import make_days
from zurelay.store.requests import Entry, Filter, add_requests, get_request, list_requests
from zurelay.store.retention import delete_older
from zurelay.store.usage import usage_by, usage_by_provider

DAYS = 30
DAY_S = 86_400
ACCOUNTS, KEYS, MODELS = 200, 1000, 20
GROUP = 512
QUIET_S = 2.0
"""How long writes are timed before a day is deleted."""
DURABLE = "fsync = on\nfull_page_writes = on\nshared_buffers = 512MB\nmax_wal_size = 4GB\n"
"""What tests switch off, and more memory than they need."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Milliseconds of the same question asked some times."""

    times: Sequence[float]

    def told(self) -> dict[str, float]:
        """The middle and the worst."""
        return {"median_ms": round(median(self.times), 2), "worst_ms": round(max(self.times), 2)}


def entries(rows: int, start: float, dice: random.Random) -> Iterator[Entry]:
    """Entries evenly over the days; some keys and models are asked for much more than others."""
    step = DAYS * DAY_S / rows
    template = RequestRecord(
        id="",
        created=0.0,
        account="",
        key="",
        endpoint="/v1/chat/completions",
        model="",
        status="ok",
        http_status=200,
        usage=Usage(input=900, cached_input=200, output=300),
        cost=4_200_000,
        attempts=[Attempt("openai:gpt-6-sol", 1, "gpt-6-sol", "ok", 1.0, 900.0, 350.0)],
        first_token_ms=350.0,
        duration_ms=901.0,
        finish_reason="stop",
        client="OpenAI/Python 3.57.0",
        client_request_id="4f1a0c8e-7b1f-4c62-9d8e-0d3a1c5b7e21",
        address="203.0.113.7",
    )
    for number in range(rows):
        at = start + number * step
        key = int(KEYS * dice.random() ** 2)
        model = f"model-{int(MODELS * dice.random() ** 3):02d}"
        failed = dice.random() < 0.02
        record = msgspec.structs.replace(
            template,
            id=f"req_{int(at * 1000):012x}{dice.getrandbits(80):020x}",
            created=at,
            account=f"acct_{key % ACCOUNTS:016x}",
            key=f"key_{key:016x}",
            model=model,
            answered_by=None if failed else model,
            status="error" if failed else "ok",
            error="upstream_failed" if failed else None,
        )
        yield record, msgspec.json.encode(record)


def fill(
    store: Store, rows: int, start: float, keep: int
) -> tuple[dict[str, object], list[RequestRecord]]:
    """How fast entries were written, and some of them. Making the entries does not count."""
    dice = random.Random(7)
    kept: list[RequestRecord] = []
    group: list[Entry] = []
    spent = processor = 0.0

    def write() -> None:
        nonlocal spent, processor
        before, began = time.perf_counter(), time.process_time()
        with store.write(alone=False) as connection:
            add_requests(connection, group)
        spent += time.perf_counter() - before
        processor += time.process_time() - began
        group.clear()

    for number, entry in enumerate(entries(rows, start, dice)):
        if number % max(1, rows // keep) == 0:
            kept.append(entry[0])
        group.append(entry)
        if len(group) == GROUP:
            write()
        if number % max(1, rows // 20) == 0:
            sys.stderr.write(f"\r{store.kind} {number:,} of {rows:,} ")
    write()
    sys.stderr.write("\n")
    rates: dict[str, object] = {
        "rows_per_s": round(rows / spent),
        "processor_us_per_row": round(processor / rows * 1e6, 1),
    }
    return rates, kept


def multiply(store: Store, times: int) -> None:
    """Make `times` entries out of each, inside the database, a millisecond apart.

    The sums by hour and day get higher, not more: a real log of that length has some more of them.
    """
    as_text = "printf('%012x', {})" if store.kind == "sqlite" else "lpad(to_hex({}), 12, '0')"
    with store.write(alone=False) as connection:
        if store.kind == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("CREATE TABLE base AS SELECT * FROM request"))
    for number in range(1, times):
        sys.stderr.write(f"\r{store.kind} {number} of {times} ")
        at = f"(at_ms + {number})"
        columns = [column.name for column in schema.request.columns][2:]
        with store.write(alone=False) as connection:
            if store.kind == "postgresql":
                connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.exec_driver_sql(
                f"INSERT INTO request SELECT {at}, 'req_' || {as_text.format(at)}"  # noqa: S608
                f" || substr(id, 17), {', '.join(columns)} FROM base"
            )
    with store.write(alone=False) as connection:
        connection.execute(text("DROP TABLE base"))


def asked(question: Callable[[int], object], times: int = 9) -> dict[str, float]:
    """How long a question takes. The first answer, which warms the caches, does not count."""
    question(0)
    taken = []
    for number in range(times):
        before = time.perf_counter()
        question(number)
        taken.append((time.perf_counter() - before) * 1000)
    return Sample(taken).told()


def questions(store: Store, start: float, kept: list[RequestRecord]) -> dict[str, object]:
    """What pages and commands ask."""
    end = start + DAYS * DAY_S
    middle = kept[len(kept) // 2]
    account, key = middle.account, middle.key
    found: dict[str, object] = {}
    with store.read() as c:
        for name, question in (
            ("usage, 30 days, by model", lambda _: usage_by(c, "model", start, end)),
            ("usage, 30 days, by key", lambda _: usage_by(c, "key", start, end)),
            ("usage, 30 days, by account", lambda _: usage_by(c, "account", start, end)),
            ("usage, 30 days, by day", lambda _: usage_by(c, "day", start, end)),
            (
                "usage, 30 days, by day, one account",
                lambda _: usage_by(c, "day", start, end, account=account),
            ),
            (
                "usage, 30 days, by model, one key",
                lambda _: usage_by(c, "model", start, end, key=key),
            ),
            (
                "usage, 30 days from the middle of a day, by model",
                lambda _: usage_by(c, "model", start + 50_000, end - 30_000),
            ),
            ("usage, 30 days, by provider", lambda _: usage_by_provider(c, start, end)),
            ("newest 100", lambda _: list_requests(c, Filter(), 100)),
            ("newest 100 of an account", lambda _: list_requests(c, Filter(account=account), 100)),
            ("newest 100 of a key", lambda _: list_requests(c, Filter(key=key), 100)),
            (
                "newest 100 of a key, from the middle",
                lambda _: list_requests(c, Filter(key=key, before=middle.id), 100),
            ),
            ("newest 100 that failed", lambda _: list_requests(c, Filter(status="error"), 100)),
            ("one by its id", lambda n: get_request(c, kept[n * 7 % len(kept)].id, None)),
        ):
            found[name] = asked(question)
    return found


def sizes(store: Store, rows: int) -> dict[str, object]:
    """Bytes, and rows of the sums, on which the time of usage questions depends."""
    with store.write(alone=False) as connection:
        if store.kind == "sqlite":
            pages = connection.execute(
                text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            )
        else:
            pages = connection.execute(text("SELECT pg_database_size(current_database())"))
        size = int(pages.scalar_one())
        sums = {
            name: int(connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one())  # noqa: S608
            for name in ("usage_hour", "usage_day", "usage_hour_model", "usage_day_key")
        }
    return {"bytes": size, "bytes_per_row": round(size / rows), **sums}


def retention(store: Store, start: float) -> dict[str, object]:
    """Delete the oldest day while another thread writes, and what that thread notices."""
    begun, done = threading.Event(), threading.Event()
    waits: list[float] = []
    now = start + DAYS * DAY_S

    def write() -> None:
        dice = random.Random(8)
        while not done.is_set():
            group = [
                (
                    msgspec.structs.replace(
                        record, id=f"req_{int(now * 1000):012x}{dice.getrandbits(80):020x}"
                    ),
                    document,
                )
                for record, document in entries(16, now, dice)
            ]
            before = time.perf_counter()
            with store.write(alone=False) as connection:
                add_requests(connection, group, shard=1)
            waits.append((time.perf_counter() - before) * 1000)
            begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait(60)
    time.sleep(QUIET_S)
    quiet = sorted(waits)
    waits.clear()
    before = time.perf_counter()
    deleted = delete_older(store, (start // DAY_S + 2) * DAY_S)
    taken = time.perf_counter() - before
    during = sorted(waits)
    done.set()
    writer.join()
    return {
        "deleted": deleted,
        "seconds": round(taken, 2),
        "write_ms_before": _tail(quiet),
        "write_ms_during": _tail(during),
    }


def _tail(times: Sequence[float]) -> dict[str, float]:
    if not times:
        return {}
    return {
        "median": round(median(times), 2),
        "p99": round(times[int(len(times) * 0.99)], 2),
        "worst": round(times[-1], 2),
        "writes": len(times),
    }


def measure(store: Store, rows: int, times: int) -> Iterator[dict[str, object]]:
    """Fill a store and ask; with `times`, make so many entries of each and ask again."""
    start = time.time() // DAY_S * DAY_S - DAYS * DAY_S
    if store.kind == "postgresql":
        with store.write() as connection:
            for day in range(DAYS + 1):
                make_days(connection, start + day * DAY_S)
    filling, kept = fill(store, rows, start, keep=1000)
    yield {**filling, **_asked(store, rows, start, kept)}
    if times > 1:
        multiply(store, times)
        yield _asked(store, rows * times, start, kept)
    yield {"database": store.kind, "rows": rows * times, "retention": retention(store, start)}


def _asked(store: Store, rows: int, start: float, kept: list[RequestRecord]) -> dict[str, object]:
    with store.session() if store.kind == "postgresql" else contextlib.nullcontext() as session:
        if session is not None:
            session.execute(text("SET statement_timeout = 0"))
            session.execute(text("VACUUM ANALYZE"))  # as autovacuum does after a while
    return {
        "database": store.kind,
        "rows": rows,
        **sizes(store, rows),
        "questions": questions(store, start, kept),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m bench.log_scale", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    parser.add_argument("--times", type=int, default=1, help="entries that each one becomes")
    asked_for = parser.parse_args(arguments)
    for rows in asked_for.rows:
        if asked_for.only != "postgresql":
            with tempfile.TemporaryDirectory(prefix="zurelay-scale-") as folder:
                _report(Path(folder), "", rows, asked_for.times)
        if asked_for.only != "sqlite":
            with (
                postgresql_server(DURABLE) as server,
                tempfile.TemporaryDirectory() as folder,
                server.database() as url,
            ):
                _report(Path(folder), url, rows, asked_for.times)


def _report(folder: Path, url: str, rows: int, times: int) -> None:
    with contextlib.closing(open_store(folder, url)) as store:
        for told in measure(store, rows, times):
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
