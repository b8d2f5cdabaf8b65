import json

from zurelay.console.charts import HEIGHT, NARROW, WIDTH, Chart, Series
from zurelay.console.languages import language

EN = language("en")
DAYS = [1_795_910_400 + day * 86_400 for day in range(4)]


def test_bars_stand_on_top_of_each_other() -> None:
    chart = Chart(DAYS, [Series("a", [1, 2, 0, 4]), Series("b", [3, None, 0, 4])])
    drawn = chart.draw(EN)
    assert [colour for colour, *_ in drawn.bars] == [1, 2, 1, 1, 2]
    (_, _, y, _, height), (_, _, upper, _, upper_height) = drawn.bars[:2]
    assert abs(upper + upper_height - y) < 0.02
    assert abs(upper_height / height - 3) < 0.05
    assert drawn.rules[0][1] == "0"
    assert drawn.rules[-1][1] == "8"
    assert drawn.legend == [("a", "7"), ("b", "7")]
    assert drawn.rows[1] == ("30 Nov 2026", ["2", ""])
    assert all(0 <= y <= HEIGHT for _, _, y, _, _ in drawn.bars)


def test_lines_break_where_there_is_no_value() -> None:
    drawn = Chart(DAYS, [Series("a", [100, None, 300, 200])], "ms", "line").draw(EN, NARROW)
    ((colour, path),) = drawn.paths
    assert colour == 1
    assert path.count("M") == 2
    assert path.count("L") == 1
    assert drawn.bars == []
    assert drawn.width == NARROW < WIDTH
    assert drawn.legend == [("a", "")]
    assert drawn.right < NARROW


def test_scales_are_round_in_every_unit() -> None:
    def top(values: list[float], unit: str) -> str:
        return Chart(DAYS[: len(values)], [Series("", values)], unit).draw(EN).rules[-1][1]  # type: ignore[arg-type]

    assert top([3], "count") == "4"
    assert top([11], "count") == "20"
    assert top([0.0031], "usd") == "$0.004"
    assert top([17.2], "usd") == "$20.00"
    assert top([870], "ms") == "1 s"
    assert top([1.4], "ms") == "4 ms"
    assert top([1.0], "share") == "100%"
    assert top([0], "count") == "4"


def test_no_two_lines_of_a_scale_have_the_same_number() -> None:
    for unit in ("usd", "count", "ms", "share"):
        for most in (0.000_000_1, 0.0031, 0.019, 0.02, 0.06, 0.3, 0.99, 1, 3, 7.5, 90, 12_345):
            drawn = Chart(DAYS[:1], [Series("", [most])], unit).draw(EN)
            told = [text for _, text in drawn.rules]
            assert len(set(told)) == 5, (unit, most, told)


def test_nothing_to_see_is_known() -> None:
    assert Chart(DAYS, [Series("a", [0, None, 0, 0])]).empty
    assert Chart([], []).empty
    assert not Chart(DAYS, [Series("a", [0, 1, 0, 0])]).empty
    assert Chart(DAYS, [Series("a", [None, None, None, None])], "ms", "line").blank
    assert not Chart(DAYS, [Series("a", [None, 0, None, None])], "ms", "line").blank
    assert Chart([], []).draw(EN).bars == []


def test_hours_have_times_and_days_have_dates() -> None:
    hours = [1_795_910_400 + hour * 3600 for hour in range(24)]
    assert Chart(hours, [Series("a", [1] * 24)]).draw(EN).dates[0][1] == "02:00"
    assert Chart(DAYS, [Series("a", [1] * 4)]).draw(EN).dates[0][1] == "29 Nov"
    assert Chart(DAYS, [Series("a", [1] * 4)]).draw(language("fr")).dates[0][1] == "29 nov."


def test_the_script_gets_the_values_themselves() -> None:
    data = json.loads(Chart(DAYS, [Series("a", [1, None, 2, 3])], "usd").draw(EN).data)
    assert data["times"] == DAYS
    assert data["values"] == [[1, None, 2, 3]]
    assert (data["unit"], data["kind"], data["step"]) == ("usd", "stack", 86_400)


def test_more_series_than_colours_share_the_last() -> None:
    drawn = Chart(DAYS[:1], [Series(str(n), [1]) for n in range(10)]).draw(EN)
    assert [colour for colour, *_ in drawn.bars][-3:] == [8, 8, 8]
