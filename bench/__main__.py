"""`make bench`: every installed subject side by side, a table with ratios, and the same as JSON.

All subjects run at once, each idle but while it is measured; rounds are interleaved so that a
change of the machine's mood meets all of them. Medians over the rounds are shown.
"""

import argparse
import asyncio
import contextlib
import json
import os
import resource
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import monotonic

import uvloop
from rich.console import Console

from bench import load, report
from bench.measure import cores, machine, pinned, processor_seconds, resident_bytes
from bench.subjects import ROOT, SUBJECTS, NotStartedError, Running, Subject, end

RESULTS = ROOT / "bench" / "results"
PATIENCE_S = 20
IDLE_SHARE = 0.05
"""Of one core; a subject that uses more is at work."""
LOOK_S = 0.3
"""How long is looked at that."""

console = Console(stderr=True, highlight=False)


@dataclass(frozen=True, slots=True)
class Length:
    """How long each part of a round takes, in seconds, and how many rounds there are."""

    rounds: int = 3
    single: float = 1.0
    many: float = 1.5
    first: float = 0.7
    window: float = 2.0


QUICK = Length(rounds=1, single=0.5, many=1.0, first=0.5, window=1.0)


class Upstream:
    """The scripted upstream as a process of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def play(self, *, events: int, interval: float) -> None:
        """Set what the next streams look like."""
        await self._get(f"?events={events}&interval={interval}&spread=1")

    async def answers(self) -> int:
        """How many chat requests it has answered."""
        return int((await self._get(""))["answers"])

    async def _get(self, query: str) -> dict[str, float]:
        url = f"http://127.0.0.1:{self.port}/script{query}"

        def ask() -> dict[str, float]:
            with urllib.request.urlopen(url, timeout=10) as opened:
                told: dict[str, float] = json.loads(opened.read())
                return told

        return await asyncio.to_thread(ask)


@contextlib.asynccontextmanager
async def scripted(core: int | None) -> AsyncIterator[Upstream]:
    """A running upstream."""
    with pinned(core):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.upstream"), cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
    assert process.stdout is not None  # noqa: S101
    try:
        yield Upstream(int(await process.stdout.readline()))
    finally:
        await end(process)


class Bench:
    """One run: the figures of each subject by measure, one value a round."""

    def __init__(self, upstream: Upstream, length: Length, folder: Path) -> None:
        self._upstream = upstream
        self._length = length
        self._folder = folder
        self.values: dict[str, dict[str, list[float]]] = {}
        self.faults: dict[str, list[str]] = {}

    def _note(self, running: Running, measure: str, value: float | None) -> None:
        if value is not None:
            of_subject = self.values.setdefault(running.subject.name, {})
            of_subject.setdefault(measure, []).append(value)

    def _fault(self, running: Running, text: str) -> None:
        self.faults.setdefault(running.subject.name, []).append(text)

    async def check(self, running: Running) -> bool:
        """Whether plain answers and streams come through at all; also warms the subject up."""
        await self._upstream.play(events=3, interval=0.0)
        deadline = monotonic() + PATIENCE_S
        while True:  # some listen long before they answer
            warm = await load.plain(running.target, 4, 0.7)
            tokens = await load.first_tokens(running.target, 0.2)
            bad = [r for r in (warm, tokens) if r.errors or not r.latencies]
            if not bad:
                return True
            if monotonic() > deadline:
                self._fault(running, f"does not answer: {bad[0].first_error or 'no answer'}")
                return False

    async def memory(self, running: Running) -> None:
        """Memory with 0, 100 and 1,000 open streams that have had their first tokens."""
        pids = running.pids()
        if not pids:
            return
        await self._upstream.play(events=1_000, interval=5.0)
        before = resident_bytes(pids)
        self._note(running, "memory_idle_mb", before / 1e6)
        for count in (100, 1_000):
            listeners = await load.listen(running.target, count, load.OPENING_S)
            live = sum(1 for listener in listeners if listener.first is not None)
            if live < count:
                self._fault(running, f"only {live} of {count} streams opened in {load.OPENING_S} s")
            self._note(running, f"memory_{count}_mb", resident_bytes(running.pids()) / 1e6)
            await load.leave(listeners)
            await asyncio.sleep(0.5)

    async def quiet(self, others: Sequence[Running], patience: float = PATIENCE_S) -> None:
        """Wait until `others` are idle: one that was overrun works on when its callers are gone."""
        deadline = monotonic() + patience
        while loud := [running for running in others if await _works(running)]:
            if monotonic() > deadline:
                for running in loud:
                    self._fault(running, "was still at work while another was measured")
                return

    async def round(self, running: Running) -> None:
        """Every other measure once."""
        length, target, pids = self._length, running.target, running.pids()

        def cpu() -> float:
            return processor_seconds(pids)

        before = await self._upstream.answers()
        one = await load.plain(target, 1, length.single)
        used = cpu()
        many = await load.plain(target, 64, length.many)
        used = cpu() - used
        asked = await self._upstream.answers() - before
        answered = len(one.latencies) + len(many.latencies)
        if asked < answered:
            self._fault(running, f"answered {answered} requests by asking the upstream {asked}")
        for result in (one, many):
            if result.errors:
                self._fault(running, f"{result.errors} errors, first: {result.first_error}")
        self._note(running, "rps_1", one.rate)
        self._note(running, "p50_1_ms", one.percentile(0.5) * 1e3)
        self._note(running, "p99_1_ms", one.percentile(0.99) * 1e3)
        self._note(running, "rps_64", many.rate)
        self._note(running, "p50_64_ms", many.percentile(0.5) * 1e3)
        self._note(running, "p99_64_ms", many.percentile(0.99) * 1e3)
        if pids and many.latencies:
            self._note(running, "cpu_request_us", used / len(many.latencies) * 1e6)
        self._note(running, "rps_64_wrk", await load.wrk(target, 64, length.many, self._folder))

        await self._upstream.play(events=3, interval=0.0)
        first = await load.first_tokens(target, length.first)
        self._note(running, "first_token_p50_ms", first.percentile(0.5) * 1e3)
        self._note(running, "first_token_p99_ms", first.percentile(0.99) * 1e3)

        await self._upstream.play(events=1_000_000, interval=0.02)
        window = await load.streams(target, 200, length.window, cpu)
        if window.open < 200:
            self._fault(running, f"only {window.open} of 200 streams opened in {load.OPENING_S} s")
        self._note(running, "events_per_s", window.events / window.seconds)
        if pids and window.events:
            self._note(running, "cpu_event_us", window.cpu / window.events * 1e6)


async def _works(running: Running) -> bool:
    """Whether it uses more than an idle program does."""
    if not (pids := running.pids()):
        return False
    before = processor_seconds(pids)
    await asyncio.sleep(LOOK_S)
    return processor_seconds(pids) - before > IDLE_SHARE * LOOK_S


async def compare(subjects: Sequence[Subject], length: Length) -> report.Results:
    """Measure `subjects` in one run."""
    core, other = cores()
    versions: dict[str, str] = {}
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        upstream = await stack.enter_async_context(scripted(other))
        stack.enter_context(pinned(other))
        bench = Bench(upstream, length, folder)
        started: list[Running] = []
        for subject in subjects:
            if (version := subject.version()) is None:
                console.print(f"{subject.name}: not installed, left out")
                continue
            versions[subject.name] = version
            console.print(f"{subject.name} {version}: starting")
            try:
                running = await stack.enter_async_context(
                    subject.running(folder / subject.name, upstream.port, core)
                )
            except NotStartedError as error:
                console.print(str(error), style="red")
                bench.faults[subject.name] = [str(error)]
                continue
            if await bench.check(running):
                started.append(running)
        for running in started:
            console.print(f"{running.subject.name}: memory of open streams")
            await bench.memory(running)
        for number in range(length.rounds):
            for running in started:
                console.print(f"round {number + 1} of {length.rounds}: {running.subject.name}")
                await bench.quiet([other for other in started if other is not running])
                await bench.round(running)
    return report.Results(
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        pinned=core is not None,
        versions=versions,
        settings={s.name: s.setting for s in subjects if s.name in versions},
        medians={
            name: {measure: median(values) for measure, values in by_measure.items()}
            for name, by_measure in bench.values.items()
        },
        rounds=bench.values,
        faults=bench.faults,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code is 1 when a subject that is installed could not be measured."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", help="names of subjects, separated by commas")
    parser.add_argument("--rounds", type=int, help="rounds to take the median of")
    parser.add_argument("--quick", action="store_true", help="one short round")
    asked = parser.parse_args(arguments)
    length = QUICK if asked.quick else Length()
    if asked.rounds:
        length = Length(rounds=asked.rounds)
    known = {subject.name: subject for subject in SUBJECTS}
    names = asked.only.split(",") if asked.only else list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such subject: {', '.join(unknown)}; there are {', '.join(known)}")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    began = monotonic()
    results = uvloop.run(compare([known[name] for name in names], length))
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{results.taken.replace(':', '')}.json"
    file.write_text(json.dumps(results.as_json(), indent=2) + "\n", encoding="utf-8")
    Console(width=max(130, int(os.environ.get("COLUMNS", "0")))).print(report.table(results))
    for name, faults in results.faults.items():
        for fault in faults:
            console.print(f"{name}: {fault}", style="yellow", markup=False)
    console.print(f"{monotonic() - began:.0f} s; figures in {file.relative_to(ROOT)}")
    return 1 if any(name not in results.medians for name in results.versions) else 0


if __name__ == "__main__":
    sys.exit(main())
