import mmap
import os
import subprocess
import sys

from bench import measure

BUSY = "import time; t = time.process_time()\nwhile time.process_time() - t < 0.2: pass\nprint(1)\n"
CHILD = (
    "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'input()'],"
    " stdin=subprocess.PIPE); print(p.pid, flush=True); input(); p.communicate(b'x\\n')"
)


def test_a_process_and_its_children_are_found() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert measure.descendants(parent.pid) == [parent.pid, child]
        parent.communicate(b"x\n")


def test_processor_time_is_what_a_process_used() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BUSY + "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        used = measure.processor_seconds([process.pid])
        process.communicate(b"\n")
    assert 0.2 <= used < 1


def test_a_process_that_ended_counts_as_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert measure.processor_seconds([process.pid]) == 0
    assert measure.resident_bytes([process.pid]) == 0


def test_memory_grows_with_what_is_held() -> None:
    size = 30_000_000
    before = measure.resident_bytes([os.getpid()])
    with mmap.mmap(-1, size) as held:  # fresh pages, whatever the allocator has in store
        held.write(b"x" * size)
        assert measure.resident_bytes([os.getpid()]) - before > size * 0.8


def test_children_started_inside_keep_the_core() -> None:
    core = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    with measure.pinned(core):
        told = subprocess.check_output(
            [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], text=True
        )
    assert told.strip() == str({core})
    assert os.sched_getaffinity(0) == before


def test_the_machine_is_described() -> None:
    assert set(measure.machine()) == {"processor", "cores", "kernel", "python", "commit"}
