"""`make cluster`: three nodes over one PostgreSQL and one Valkey for a minute, then what must hold.

Exit code 1 if it does not, 2 if this machine was too busy to tell.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.run import BUSY_S, LONG, SHORT, Outcome, Plan, run
from tests.servers import postgresql_server
from tests.valkey_server import valkey


def table(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n{title}")
    for name, value in rows:
        print(f"  {name:<44}{value:>12}")


def percentile(values: Sequence[float], part: float) -> str:
    return f"{sorted(values)[int(part * (len(values) - 1))] * 1000:.0f} ms" if values else "none"


def counts(log: Sequence[str]) -> list[tuple[str, str]]:
    """Node and event of each line -> how often."""
    found = Counter(
        f"{line.partition(':')[0]} {json.loads(line.partition(' ')[2])['event']}" for line in log
    )
    return [(name, f"{count:,}") for name, count in sorted(found.items())]


def complaints(log: Path) -> list[tuple[str, str]]:
    """Each kind of error in PostgreSQL's log -> how often."""
    found = Counter(
        line.partition("ERROR:  ")[2][:42]
        for line in log.read_text(errors="replace").split("\n")
        if "ERROR:  " in line
    )
    return [(what, f"{count:,}") for what, count in sorted(found.items())]


def report(outcome: Outcome, plan: Plan) -> None:
    asked, rows = outcome.asked, outcome.rows
    ends = Counter(
        f"{one.kind}: {one.end}{f' {one.status}' if one.end == 'refused' else ''}" for one in asked
    )
    table("What callers saw", [(name, f"{count:,}") for name, count in sorted(ends.items())])
    table("What was done", [(step, f"{took:.1f} s") for took, step in outcome.cluster.done])
    plain = [one.ended - one.began for one in asked if one.end == "whole"]
    table(
        "The cluster",
        [
            ("requests", f"{len(asked):,}"),
            ("requests a second", f"{len(asked) / plan.seconds:.0f}"),
            ("log rows", f"{len(rows):,}"),
            ("nano-dollars charged", f"{sum(row.cost for row in rows):,}"),
            ("nano-dollars left of the prepaid balance", f"{outcome.verdict.figures['left']:,}"),
            *(
                (name, f"{count:,}")
                for name, count in outcome.verdict.figures.items()
                if "repeat" in name
            ),
            ("looks at the wallets", f"{outcome.samples:,}"),
            ("a whole answer, median", percentile(plain, 0.5)),
            ("a whole answer, 99 %", percentile(plain, 0.99)),
            ("callers and provider late by", f"{outcome.lag:.2f} s"),
        ],
    )
    wrong = outcome.verdict.wrong
    print("\nAll holds." if not wrong else f"\n{len(wrong)} things are wrong:")
    for one in wrong:
        print(f"  {one}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long callers ask")
    parser.add_argument("--callers", type=int, default=24, help="callers at once")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is drawn")
    parser.add_argument("--short", action="store_true", help="fewer steps, for a short run")
    parser.add_argument("--keep", type=Path, help="a folder for what the nodes write")
    arguments = parser.parse_args()
    some = max(1, arguments.callers // 6)
    plan = Plan(
        seconds=arguments.seconds,
        seed=arguments.seed,
        callers={"open": 2 * some, "prepaid": 2 * some, "budget": some, "limited": some},
        credit=int(arguments.seconds * some * 70_000),
        budget=int(arguments.seconds * some * 100_000),
        rpm=120,
        steps=SHORT if arguments.short else LONG,
        credits=(0.35, 0.6),
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        postgresql_server() as postgresql,
        valkey() as shared,
    ):
        place = arguments.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        outcome = asyncio.run(run(place, plan, postgresql, shared))
        report(outcome, plan)
        table("What the nodes wrote", counts(outcome.log))
        table("What the database wrote", complaints(postgresql.folder / "log"))
        print(f"\n{time.monotonic() - began:.0f} s in all")
    if not outcome.verdict.wrong:
        return 0
    if outcome.lag > BUSY_S:
        print(f"\nThis machine was busy with other things, {outcome.lag:.1f} s late: run it again.")
        return 2
    return 1


if __name__ == "__main__":
    sys.exit(main())
