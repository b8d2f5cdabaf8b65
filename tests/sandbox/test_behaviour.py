import re
from pathlib import Path
from typing import Any

import pytest

from zurelay.chat.problems import Refused
from zurelay.sandbox.behaviour import MODELS, PARAMETERS, parse


def refusal(model: str) -> tuple[int, str | None, str]:
    with pytest.raises(Refused) as caught:
        parse(model)
    problem = caught.value.problem
    assert problem.param == "model"
    return problem.status, problem.code, problem.message


def test_all_models_of_the_contract_are_there() -> None:
    assert set(MODELS) == {
        "sandbox/echo",
        "sandbox/lorem",
        "sandbox/reasoning",
        "sandbox/tools",
        "sandbox/json",
        "sandbox/slow",
        "sandbox/stall",
        "sandbox/cut",
        "sandbox/error",
        "sandbox/rate-limit",
        "sandbox/refusal",
        "sandbox/usage",
        "sandbox/embedding",
    }


@pytest.mark.parametrize(
    ("model", "values"),
    [
        ("sandbox/lorem?tokens=7&tps=2.5", {"tokens": 7, "tps": 2.5}),
        ("sandbox/slow?first=30", {"first": 30.0}),
        ("sandbox/stall?after=10", {"after": 10}),
        ("sandbox/cut?after=0", {"after": 0}),
        ("sandbox/error?status=418", {"status": 418}),
        (
            "sandbox/error?status=400&code=context_length_exceeded",
            {"code": "context_length_exceeded"},
        ),
        ("sandbox/rate-limit?retry_after=2", {"retry_after": 2.0, "status": 429}),
        (
            "sandbox/usage?prompt=1000&cached=800&completion=50",
            {"prompt": 1000, "cached": 800, "completion": 50},
        ),
    ],
)
def test_parameters_are_read(model: str, values: dict[str, Any]) -> None:
    behaviour = parse(model)
    assert {name: getattr(behaviour, name) for name in values} == values


def test_parameters_left_out_have_the_defaults_of_the_documentation() -> None:
    assert (parse("sandbox/lorem").tokens, parse("sandbox/lorem").tps) == (200, 50)
    assert parse("sandbox/slow").first == 30
    assert parse("sandbox/stall").after == 10
    assert parse("sandbox/cut").after == 10
    assert parse("sandbox/error").status == 503
    assert parse("sandbox/rate-limit").retry_after == 2
    assert parse("sandbox/echo").tps is None


def test_the_prefix_may_be_left_out() -> None:
    assert parse("lorem?tokens=3") == parse("sandbox/lorem?tokens=3")


@pytest.mark.parametrize(
    ("model", "name", "clipped"),
    [
        ("sandbox/slow?first=999999", "first", 300),
        ("sandbox/rate-limit?retry_after=301", "retry_after", 300),
        ("sandbox/lorem?tokens=10001", "tokens", 10_000),
        ("sandbox/cut?after=999999999", "after", 10_000),
    ],
)
def test_values_are_clipped(model: str, name: str, clipped: float) -> None:
    assert getattr(parse(model), name) == clipped


def test_an_unknown_parameter_is_named_with_those_that_exist() -> None:
    status, code, message = refusal("sandbox/lorem?tokenz=3")
    assert (status, code) == (400, "invalid_value")
    assert "'tokenz'" in message
    assert "tokens" in message


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("sandbox/lorem?tokens=-1", "tokens"),
        ("sandbox/lorem?tokens=2.5", "tokens"),
        ("sandbox/lorem?tokens=", "tokens"),
        ("sandbox/lorem?tokens", "tokens"),
        ("sandbox/lorem?tokens=1_000", "tokens"),
        ("sandbox/lorem?tokens=٣", "tokens"),
        ("sandbox/lorem?tps=0", "tps"),
        ("sandbox/lorem?tps=nan", "tps"),
        ("sandbox/slow?first=inf", "first"),
        ("sandbox/slow?first=1e3", "first"),
        ("sandbox/error?status=200", "status"),
        ("sandbox/error?status=600", "status"),
        ("sandbox/error?code=A-b", "code"),
        ("sandbox/lorem?tokens=3&tokens=4", "tokens"),
        ("sandbox/usage?prompt=10&cached=11", "prompt"),
        ("sandbox/usage?completion=10&reasoning=11", "completion"),
    ],
)
def test_a_bad_value_is_refused_by_name(model: str, name: str) -> None:
    status, code, message = refusal(model)
    assert (status, code) == (400, "invalid_value")
    assert name in message


def test_an_unknown_model_is_404_with_the_nearest_name() -> None:
    assert refusal("sandbox/ecko")[0] == 404
    assert "sandbox/echo" in refusal("ecko?x=1")[2]
    assert "sandbox/" not in refusal("gpt-6")[2]


def test_every_parameter_is_taken_by_a_model_and_none_is_unknown() -> None:
    taken = {name for model in MODELS.values() for name in model.takes}
    assert taken == set(PARAMETERS)


def rows(text: str) -> dict[str, list[str]]:
    found = {}
    for line in text.split("\n"):
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[cells[0].strip("`")] = cells[1:]
    return found


def test_the_documentation_has_every_model_with_its_parameters() -> None:
    document = Path(__file__).resolve().parents[2] / "src/zurelay/docs/pages/en/sandbox.md"
    told = rows(document.read_text("utf-8"))
    assert set(told) == {*MODELS, *PARAMETERS}
    for name, model in MODELS.items():
        assert re.findall(r"`(\w+)`", told[name][0]) == list(model.takes)
