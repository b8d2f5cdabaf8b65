"""What the operating system knows of a process tree: processor time and memory. Linux only.

It also pins processes to cores. It knows nothing of HTTP or of the programs measured.
"""

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def descendants(root: int) -> list[int]:
    """`root` and every living process below it."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name may hold spaces and brackets; what follows the last bracket does not.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def processor_seconds(pids: list[int]) -> float:
    """User and system time of `pids` so far, in seconds.

    The scheduler's own count is in nanoseconds; where the kernel keeps none, clock ticks do.
    """
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            nanoseconds = 0
            for task in (PROC / str(pid) / "task").iterdir():
                with contextlib.suppress(OSError):
                    nanoseconds += int((task / "schedstat").read_text().split()[0])
            if not nanoseconds:
                stat = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
                nanoseconds = (int(stat[11]) + int(stat[12])) * 1_000_000_000 // TICKS
            total += nanoseconds / 1e9
    return total


def resident_bytes(pids: list[int]) -> int:
    """Memory of `pids` in bytes, pages shared between them counted once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in (PROC / str(pid) / "smaps_rollup").read_text().split("\n"):
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


@contextlib.contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """Run what is inside, and what it starts, on `core` alone; None leaves all cores."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cores() -> tuple[int | None, int | None]:
    """The core for the program under test and the one for load and upstream; None with one."""
    usable = sorted(os.sched_getaffinity(0))
    return (usable[0], usable[1]) if len(usable) > 1 else (None, None)


def machine() -> dict[str, str | int]:
    """What a reader needs to judge figures taken here."""
    model = "unknown"
    with contextlib.suppress(OSError):
        for line in (PROC / "cpuinfo").read_text().split("\n"):
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "commit": commit,
    }
