import asyncio
import json
import os
import sys
from pathlib import Path

from bench.__main__ import Bench, Length, Upstream, compare
from bench.load import Target
from bench.subjects import Direct, Running, end

BLINK = Length(rounds=1, single=0.05, many=0.05, first=0.05, window=0.1)


async def test_a_run_has_every_measure_of_direct_access_and_leaves_the_cores_alone() -> None:
    before = os.sched_getaffinity(0)
    results = await compare([Direct()], BLINK)
    assert os.sched_getaffinity(0) == before
    assert results.faults == {}
    figures = results.medians["direct"]
    assert figures["rps_64"] > 0
    assert 0 < figures["p50_1_ms"] <= figures["p99_1_ms"]
    assert figures["events_per_s"] > 0
    assert "cpu_event_us" not in figures
    assert len(results.rounds["direct"]["rps_1"]) == 1
    assert json.loads(json.dumps(results.as_json()))["versions"] == {"direct": ""}


async def test_a_subject_still_at_work_is_waited_for_and_told_of(tmp_path: Path) -> None:
    bench = Bench(Upstream(1), BLINK, tmp_path)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "import sys\nsys.stdin.read(1)\nwhile True: pass"),
        stdin=asyncio.subprocess.PIPE,
    )
    running = Running(Direct(), Target(1), process.pid)
    try:
        await bench.quiet([running])
        assert bench.faults == {}
        assert process.stdin is not None
        process.stdin.write(b"x")
        await process.stdin.drain()
        await bench.quiet([running], patience=0)
    finally:
        await end(process)
    assert bench.faults == {"direct": ["was still at work while another was measured"]}
    await bench.quiet([running], patience=0)  # gone is idle
