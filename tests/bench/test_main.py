import json
import os

from bench.__main__ import Length, compare
from bench.subjects import Direct

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
