"""A key's terms as a form: read, filled and read again."""

from typing import Any

import pytest

from zurelay.console.keys_form import filled, models_in, wanted
from zurelay.console.page import Form, read
from zurelay.office.keys import KeyChange, KeyView
from zurelay.office.values import AutoForm, BudgetView, CeilingForm

KEY = KeyView(
    id="key_1",
    name="tool",
    account="acct_1",
    account_name="team",
    last4="abcd",
    state="live",
    created="2026-11-29T12:00:00Z",
    expires="2099-12-31",
    revoked=None,
    last_used=None,
    models=["sandbox/*", "gpt-6"],
    budget=BudgetView("12.5", "week"),
    rpm=60_000,
    tpm=None,
    concurrency=3,
    markup="1.25",
    spent_usd="0",
    remaining_usd="12.5",
    old_text_until=None,
    store_days=7,
)


def form_of(**fields: str) -> Form:
    return Form({name: [value] for name, value in fields.items()})


def terms(**fields: str) -> dict[str, Any]:
    return wanted(form_of(**fields), operates=True)


def test_a_key_comes_back_from_its_form_as_it_is() -> None:
    found = read(KeyChange, wanted(filled(KEY), operates=True))
    assert (found.name, found.models, found.expires) == (KEY.name, KEY.models, KEY.expires)
    assert (found.rpm, found.tpm, found.concurrency) == (60_000, None, 3)
    assert (found.markup, found.store_days, found.auto) == ("1.25", 7, None)


@pytest.mark.parametrize(
    "auto",
    [
        AutoForm(allow=["claude-*", "gpt-6*"], exclude=["*-astra"]),
        AutoForm(exclude=[]),
        AutoForm(ceiling=CeilingForm("5.00", "25.00")),
        AutoForm(ceiling=CeilingForm(output="25.00")),
        AutoForm(ceiling=CeilingForm()),
    ],
)
def test_terms_of_smart_routing_come_back_as_they_are(auto: AutoForm) -> None:
    key = KeyView(**{name: getattr(KEY, name) for name in KEY.__struct_fields__})
    key.auto = auto
    assert read(KeyChange, wanted(filled(key), operates=True)).auto == auto


def test_a_list_that_names_none_lets_all_be_chosen() -> None:
    key = KeyView(**{name: getattr(KEY, name) for name in KEY.__struct_fields__})
    key.auto = AutoForm(allow=[])
    assert wanted(filled(key), operates=True)["auto"] == {"allow": ["*"]}


def test_fields_are_read_as_people_write_them() -> None:
    found = terms(markup="1,25", rpm="60 000", tpm="1.000.000", concurrency="1.5", budget="$2,50")
    assert (found["markup"], found["rpm"], found["tpm"]) == ("1.25", "60000", "1000000")
    assert found["concurrency"] == "1.5", "which is no whole number, and is refused"
    assert found["budget"] == {"usd": "2.50", "period": "month"}
    found = terms(auto_allow="claude-*, gpt-6*\ngpt-6*", auto_input="5", auto_exclude_none="on")
    assert found["auto"] == {
        "allow": ["claude-*", "gpt-6*"],
        "exclude": [],
        "ceiling": {"input": "5", "output": None},
    }
    assert terms(auto_exclude="a", auto_exclude_none="on")["auto"] == {"exclude": ["a"]}
    assert terms(name="x")["auto"] is None


def test_models_are_those_ticked_and_those_written_each_once() -> None:
    form = Form({"model": ["a", "b"], "models": ["b,c\nd"], "some": ["on"]})
    assert models_in(form) == ["a", "b", "c", "d"]
    assert wanted(form, operates=False)["models"] == ["a", "b", "c", "d"]
    form = Form({"model": ["a"], "some": [""]})
    assert wanted(form, operates=False)["models"] is None


def test_nobody_else_s_form_has_the_operators_fields() -> None:
    found = wanted(form_of(name="x", markup="0", auto_allow="*"), operates=False)
    assert not {"markup", "auto"} & set(found)
