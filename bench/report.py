"""The figures as a table with ratios and as JSON. Measures nothing, starts nothing."""

from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

BASE = "zurelay"


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table; `more` is whether more of it is better."""

    name: str
    title: str
    more: bool = False


MEASURES = (
    Measure("rps_1", "requests/s, 1 connection", more=True),
    Measure("p50_1_ms", "latency p50, 1 connection, ms"),
    Measure("p99_1_ms", "latency p99, 1 connection, ms"),
    Measure("rps_64", "requests/s, 64 connections", more=True),
    Measure("rps_64_wrk", "requests/s, 64 connections, by wrk", more=True),
    Measure("p50_64_ms", "latency p50, 64 connections, ms"),
    Measure("p99_64_ms", "latency p99, 64 connections, ms"),
    Measure("cpu_request_us", "CPU per plain request, us"),
    Measure("cpu_event_us", "CPU per stream event, 200 streams, us"),
    Measure("events_per_s", "stream events/s (10,000 offered)", more=True),
    Measure("first_token_p50_ms", "time to first token p50, ms"),
    Measure("first_token_p99_ms", "time to first token p99, ms"),
    Measure("memory_idle_mb", "memory idle, MB"),
    Measure("memory_100_mb", "memory, 100 open streams, MB"),
    Measure("memory_1000_mb", "memory, 1,000 open streams, MB"),
)


@dataclass(frozen=True, slots=True)
class Results:
    """A whole run.

    Attributes:
        taken: ISO time.
        machine: what it ran on.
        pinned: whether the programs under test had a core of their own.
        versions: subject -> version.
        settings: subject -> what it was told.
        medians: subject -> measure -> median over the rounds.
        rounds: subject -> measure -> each round's value.
        faults: subject -> what went wrong while it was measured.
    """

    taken: str
    machine: dict[str, str | int]
    pinned: bool
    versions: dict[str, str]
    settings: dict[str, str]
    medians: dict[str, dict[str, float]]
    rounds: dict[str, dict[str, list[float]]]
    faults: dict[str, list[str]]

    def as_json(self) -> dict[str, Any]:
        """Everything, with the ratios of the table."""
        return asdict(self) | {
            "ratios": {
                name: {
                    measure.name: round(factor, 3)
                    for measure in MEASURES
                    if (factor := ratio(self, measure, name)) is not None
                }
                for name in self.medians
                if name != BASE
            }
        }


def ratio(results: Results, measure: Measure, name: str) -> float | None:
    """How many times better zurelay is than `name`; None where either has no figure."""
    ours = results.medians.get(BASE, {}).get(measure.name)
    theirs = results.medians.get(name, {}).get(measure.name)
    if not ours or not theirs:
        return None
    return ours / theirs if measure.more else theirs / ours


def figure(value: float) -> str:
    """A number with three digits that matter."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(results: Results) -> Table:
    """One line a measure, one column a subject; in brackets how many times better zurelay is."""
    told = results.machine
    drawn = Table(
        title=f"{told['processor']}, {told['cores']} cores, {results.taken}, {told['commit']}",
        caption=f"(x2.0): {BASE} is twice as good there; below 1 it is worse",
    )
    shown = [name for name in results.versions if name in results.medians]
    drawn.add_column("median of the rounds")
    for name in shown:
        drawn.add_column(f"{name} {results.versions[name]}".strip(), justify="right")
    for measure in MEASURES:
        cells = []
        for name in shown:
            values = results.medians[name]
            factor = ratio(results, measure, name) if name != BASE else None
            text = figure(values[measure.name]) if measure.name in values else "-"
            cells.append(text if factor is None else f"{text} (x{figure(factor)})")
        if any(cell != "-" for cell in cells):
            drawn.add_row(measure.title, *cells)
    return drawn
