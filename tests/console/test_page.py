from types import SimpleNamespace

import msgspec
import pytest

from zurelay.chat.problems import Refused, invalid_value
from zurelay.console.page import Form, Visit, read
from zurelay.office.keys import NewKey


def test_fields_come_without_blanks_around_them() -> None:
    form = Form({"name": ["  Ann  ", "x"], "model": ["a", " ", "b "], "empty": ["  "]})
    assert form.get("name") == "Ann"
    assert form.get("missing", "else") == "else"
    assert form.all("model") == ["a", "b"]
    assert (form.optional("empty"), form.optional("name")) == (None, "Ann")
    assert "empty" in form
    assert "missing" not in form


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("20", "20"),
        (" $12,50 ", "12.50"),
        ("$ 3", "3"),
        ("0,125", "0.125"),
        ("1.125", "1.125"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_dollars_are_written_as_people_write_them(text: str, amount: str) -> None:
    assert Form({"budget": [text]}).dollars("budget") == amount


@pytest.mark.parametrize("text", ["1,000", "$12,500", "1,000.50", "1 000"])
def test_what_may_be_a_thousand_dollars_is_not_taken_for_one(text: str) -> None:
    amount = Form({"budget": [text]}).dollars("budget")
    with pytest.raises(Refused):
        read(NewKey, {"name": "a", "budget": {"usd": amount, "period": "day"}})


def test_factors_have_a_point_or_a_comma() -> None:
    form = Form({"a": ["1,125"], "b": ["1.2"]})
    assert (form.decimal("a"), form.decimal("b")) == ("1.125", "1.2")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("60000", "60000"),
        ("60.000", "60000"),
        ("1,000,000", "1000000"),
        ("60\u202f000", "60000"),
        ("1.5", "1.5"),
        ("12.0000", "12.0000"),
        ("", ""),
    ],
)
def test_whole_numbers_may_have_their_thousands_set_apart(text: str, number: str) -> None:
    assert Form({"rpm": [text]}).whole("rpm") == number


def test_a_form_is_filled_with_what_there_is() -> None:
    form = Form.of(name="Ann", rpm=5, budget=None)
    assert (form.get("rpm"), "budget" in form) == ("5", False)


def test_what_was_refused_stands_beside_its_field() -> None:
    form = Form({"budget": ["x"]})
    form.failed(
        Refused(invalid_value("budget.usd", "budget.usd: write an amount.")), budget_usd="budget"
    )
    form.failed(Refused(invalid_value("models[2]", "models[2]: write a model's id.")))
    assert form.faults == {"budget": "write an amount.", "models": "write a model's id."}


def test_a_form_becomes_what_the_office_takes() -> None:
    made = read(NewKey, {"name": "a", "rpm": "60", "budget": {"usd": "5", "period": "day"}})
    assert made.rpm == 60
    assert made.budget is not None
    assert made.models is None


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"name": "a", "rpm": "0"}, "rpm"),
        ({"name": "a", "rpm": "x"}, "rpm"),
        ({"name": "a", "rpm": "null"}, "rpm"),
        ({"name": "a", "budget": {"usd": "x", "period": "day"}}, "budget.usd"),
        ({"name": "a", "models": [""]}, "models[0]"),
        ({"name": ""}, "name"),
    ],
)
def test_a_field_that_cannot_be_so_is_named(values: dict[str, object], param: str) -> None:
    with pytest.raises(Refused) as found:
        read(NewKey, values)
    assert found.value.problem.param == param
    assert not isinstance(found.value, msgspec.ValidationError)


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ({}, 0),
        ({"from": "60"}, 60),
        ({"from": "-1"}, 0),
        ({"from": "9" * 5000}, 0),
        ({"from": "\u0663"}, 0),
        ({"from": "x"}, 0),
    ],
)
def test_a_list_goes_on_where_the_query_says(query: dict[str, str], start: int) -> None:
    asked = SimpleNamespace(query=query)
    assert Visit.start.fget(asked) == start  # type: ignore[attr-defined]
