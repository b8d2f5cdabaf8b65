import json

from rich.console import Console

from bench import report

RESULTS = report.Results(
    taken="2026-01-01T00:00:00+00:00",
    machine={"processor": "p", "cores": 2, "commit": "abc"},
    pinned=True,
    versions={"direct": "", "zurelay": "0.1", "peer": "9.9"},
    settings={},
    medians={
        "peer": {"rps_64": 500.0, "cpu_event_us": 50.0, "rps_1": 3.0},
        "zurelay": {"rps_64": 1_000.0, "cpu_event_us": 25.0},
        "direct": {"rps_64": 4_000.0},
    },
    rounds={},
    faults={},
)
MORE = next(m for m in report.MEASURES if m.name == "rps_64")
LESS = next(m for m in report.MEASURES if m.name == "cpu_event_us")


def test_a_ratio_above_one_means_better_whichever_way_the_measure_runs() -> None:
    assert report.ratio(RESULTS, MORE, "peer") == 2
    assert report.ratio(RESULTS, LESS, "peer") == 2
    assert report.ratio(RESULTS, MORE, "direct") == 0.25


def test_without_a_figure_of_both_there_is_no_ratio() -> None:
    assert report.ratio(RESULTS, LESS, "direct") is None


def test_the_table_has_a_line_for_each_measure_taken_in_the_order_of_the_subjects() -> None:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(report.table(RESULTS))
    text = capture.get()
    assert text.index("direct") < text.index("zurelay 0.1") < text.index("peer 9.9")
    assert "500 (x2.00)" in text
    assert "memory idle" not in text


def test_the_json_holds_figures_and_ratios() -> None:
    told = json.loads(json.dumps(RESULTS.as_json()))
    assert told["medians"]["peer"]["rps_64"] == 500
    assert told["ratios"] == {
        "peer": {"rps_64": 2.0, "cpu_event_us": 2.0},
        "direct": {"rps_64": 0.25},
    }


def test_numbers_show_three_digits() -> None:
    assert [report.figure(x) for x in (12_345.6, 99.96, 1.234)] == ["12,346", "100.0", "1.23"]
