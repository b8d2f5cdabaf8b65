from typing import Any

from zurelay.console.timeline import timeline


def a_try(
    start: float, end: float | None, first: float | None = None, status: str = "failed"
) -> dict[str, Any]:
    return {"start_ms": start, "end_ms": end, "first_token_ms": first, "status": status}


def test_tries_lie_where_they_were() -> None:
    line = timeline([a_try(0, 250), a_try(250, 1000, 500, "ok")], 1000)
    assert [(bar.start, bar.wide, bar.waited, bar.kind) for bar in line.bars] == [
        (0, 250, 250, "bad"),
        (250, 750, 250, "good"),
    ]
    assert line.scale == [(0, 0), (250, 250), (500, 500), (750, 750), (1000, 1000)]


def test_the_scale_names_no_time_twice() -> None:
    assert timeline([a_try(0, 2)], 2).scale == [(0, 0), (1000, 2)]


def test_a_try_that_took_no_time_can_be_seen() -> None:
    bars = timeline([a_try(1000, 1000)], 1000).bars
    assert (bars[0].start, bars[0].wide) == (996, 4)


def test_one_that_still_runs_reaches_to_the_end() -> None:
    line = timeline([a_try(0, None, None, "running"), a_try(10, 20)], None)
    assert (line.bars[0].wide, line.bars[0].kind) == (1000, "plain")


def test_a_whole_answer_was_not_waited_for_in_vain() -> None:
    bars = timeline([a_try(0, 100, None, "ok")], 100).bars
    assert (bars[0].wide, bars[0].waited) == (1000, 0)


def test_no_tries_are_an_empty_line() -> None:
    assert timeline([], None).bars == []
