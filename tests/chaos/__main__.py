"""`make chaos`: a real gateway under siege for a minute, then what must hold.

Exit code 1 if it does not, 2 if this machine was too busy to tell.

The gateway is a process of its own, so that its memory and its open files can be counted.
"""

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.chaos.callers import Seen
from tests.chaos.run import BUSY_S, Upstreams, besiege, configuration, judge_log
from tests.served import Served, serve
from zurelay.meter.record import RequestRecord
from zurelay.store.engine import open_store
from zurelay.store.requests import Filter, list_requests

MB = 1024 * 1024
WARM_UP = 0.4
"""The part of the run after which memory must be flat."""
GROWTH = 0.1
SLACK_MB = 10.0


class Footprint:
    """Memory and open files of a process, once a second."""

    def __init__(self, pid: int) -> None:
        self._proc = Path(f"/proc/{pid}")
        self.rss: list[float] = []
        self.most_files = 0

    def files(self) -> int:
        """Open files now."""
        return len(list((self._proc / "fd").iterdir()))

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            for line in (self._proc / "status").read_text().split("\n"):
                if line.startswith("VmRSS:"):
                    self.rss.append(int(line.split()[1]) / 1024)
            self.most_files = max(self.most_files, self.files())
            await asyncio.sleep(1)

    def growth(self) -> tuple[float, float]:
        """Megabytes after the warm-up, and at the end."""
        at = int(len(self.rss) * WARM_UP)
        tenth = max(3, len(self.rss) // 10)
        return statistics.median(self.rss[at : at + tenth]), statistics.median(self.rss[-tenth:])


def rows_of(folder: Path, wanted: int) -> list[RequestRecord]:
    """The log, once it has all of them or ten seconds have passed."""
    store = open_store(folder / "zurelay-data")
    try:
        for _ in range(100):
            with store.read() as connection:
                rows = list_requests(connection, Filter(), 10**7)
            if len(rows) >= wanted:
                break
            time.sleep(0.1)
        return rows
    finally:
        store.close()


def last_words(folder: Path) -> str:
    """The end of what the gateway wrote."""
    return (folder / "output.log").read_text(errors="replace")[-3000:]


def gateway_late(origin: str) -> str:
    """The smallest bound of its histogram that all measurements keep."""
    try:
        with urllib.request.urlopen(f"{origin}/metrics", timeout=10) as answer:  # noqa: S310
            text = answer.read().decode()
    except OSError as error:
        return f"unknown: {error}"
    found = re.findall(r'event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)', text)
    return next((f"{bound} s" for bound, count in found if float(count) == float(found[-1][1])), "")


def table(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n{title}")
    for name, value in rows:
        print(f"  {name:<34}{value:>12}")


def counts(found: Counter[str]) -> list[tuple[str, str]]:
    return [(name, f"{count:,}") for name, count in sorted(found.items())]


def percentile(values: list[float], part: float) -> str:
    if not values:
        return "none"
    return f"{sorted(values)[int(part * (len(values) - 1))]:.2f} s"


async def run(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with Upstreams().running(arguments.seed, arguments.pace) as upstreams:
            config = configuration(upstreams, arguments.models, hedge=arguments.hedge)
            with serve(Path(folder), config) as gateway:
                return await siege(arguments, upstreams, gateway)


async def siege(arguments: argparse.Namespace, upstreams: Upstreams, gateway: Served) -> int:
    footprint = Footprint(gateway.pid)
    files = footprint.files()
    watching = asyncio.create_task(footprint.watch())
    seen = await besiege(
        gateway.origin,
        gateway.key,
        models=arguments.models,
        streams=arguments.streams,
        seconds=arguments.seconds,
        seed=arguments.seed,
    )
    watching.cancel()
    await asyncio.wait([watching])
    rows = await asyncio.to_thread(rows_of, gateway.folder, len(seen.tags))
    judge_log(rows, seen, upstreams)
    kept = await left_open(upstreams, footprint, files)
    judge_footprint(seen, footprint, files, kept)
    late = await asyncio.to_thread(gateway_late, gateway.origin)
    report(seen, rows, upstreams, footprint, (files, kept), late, last_words(gateway.folder))
    if not seen.wrong:
        return 0
    if seen.lag > BUSY_S:
        print(f"\nThis machine was busy with other things, {seen.lag:.1f} s late: run it again.")
        return 2
    return 1


async def left_open(upstreams: Upstreams, footprint: Footprint, files: int) -> int:
    """Files still open when every connection has been closed from the other side."""
    for server in upstreams.servers:
        server.drop_all()
    for _ in range(100):
        if footprint.files() <= files and not upstreams.open:
            break
        await asyncio.sleep(0.1)
    return footprint.files()


def judge_footprint(seen: Seen, footprint: Footprint, files: int, kept: int) -> None:
    if kept > files + 3:
        seen.note(f"{kept} files are open, {files} were at first")
    warm, last = footprint.growth()
    if last > warm * (1 + GROWTH) + SLACK_MB:
        seen.note(f"memory grew from {warm:.0f} to {last:.0f} MB")


def report(
    seen: Seen,
    rows: Sequence[RequestRecord],
    upstreams: Upstreams,
    footprint: Footprint,
    files: tuple[int, int],
    late: str,
    words: str,
) -> None:
    attempts = [attempt for row in rows for attempt in row.attempts]
    table("What callers saw", counts(seen.ends))
    table("What upstreams did", counts(upstreams.done))
    table("How attempts ended", counts(Counter(a.reason or a.status for a in attempts)))
    table(
        "Attempts of a request",
        counts(Counter(str(len(row.attempts)) for row in rows)),
    )
    warm, last = footprint.growth()
    table(
        "The gateway",
        [
            ("requests", f"{len(seen.tags):,}"),
            ("log rows", f"{len(rows):,}"),
            ("attempts", f"{len(attempts):,}"),
            ("requests that arrived upstream", f"{upstreams.requests:,}"),
            ("first token, median", percentile(seen.first_tokens, 0.5)),
            ("first token, 95 %", percentile(seen.first_tokens, 0.95)),
            ("first token, 99 %", percentile(seen.first_tokens, 0.99)),
            ("callers and upstreams late by", f"{seen.lag:.2f} s"),
            ("event loop late by at most", late),
            ("memory after warm-up", f"{warm:.0f} MB"),
            ("memory at the end", f"{last:.0f} MB"),
            ("files open at first", str(files[0])),
            ("files open at most", str(footprint.most_files)),
            ("files open in the end", str(files[1])),
        ],
    )
    print("\nAll holds." if not seen.wrong else f"\n{len(seen.wrong)} things are wrong:")
    for wrong in seen.wrong:
        print(f"  {wrong}")
    if seen.wrong:
        print(f"\nThe gateway's last words:\n{words}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long callers ask")
    parser.add_argument("--streams", type=int, default=200, help="callers at once")
    parser.add_argument("--models", type=int, default=20, help="models, each with five routes")
    parser.add_argument("--pace", type=float, default=0.08, help="seconds between two events")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn")
    parser.add_argument("--hedge", action="store_true", help="with hedging")
    return asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
