from dataclasses import replace

from tests.office.people import ADMIN, MEMBER, READER, audited, refusal
from zurelay.office.desk import Desk
from zurelay.office.prices import PriceForm, delete_price, list_prices, set_price

PRICE = {"input": "4.00", "output": "20.00", "above": []}


def test_a_price_is_set_replaced_and_deleted(desk: Desk) -> None:
    made = set_price(desk, ADMIN, PriceForm("gpt-6", PRICE, "2027-01-01"))
    assert (made.price, made.since, made.actor) == (PRICE, "2027-01-01", "token:ci")
    free = set_price(desk, ADMIN, PriceForm("gpt-6", "free"))
    assert list_prices(desk, READER) == [free, made]
    assert list_prices(desk, READER, "other") == []
    assert set_price(desk, ADMIN, PriceForm("gpt-6", PRICE)).since is None
    delete_price(desk, ADMIN, "gpt-6")
    assert list_prices(desk, READER) == [made]
    assert refusal(delete_price, desk, ADMIN, "gpt-6").status == 404
    actions = [(line.action, line.target) for line in audited(desk)]
    assert actions == [("price.set", "gpt-6")] * 3 + [("price.delete", "gpt-6")]


def test_faults_name_their_place(desk: Desk) -> None:
    for form, param in (
        (PriceForm("m", "cheap"), "price"),
        (PriceForm("m", {"input": "x", "output": "1"}), "price.input"),
        (PriceForm("m", {"input": "1"}), "price.output"),
        (PriceForm("m", PRICE | {"inputs": "1"}), "price.inputs"),
        (PriceForm("m", PRICE | {"since": "2027-01-01"}), "price.since"),
        (PriceForm("m", PRICE, "soon"), "since"),
        (PriceForm("a\nb", PRICE), "model"),
    ):
        assert refusal(set_price, desk, ADMIN, form).param == param
    assert refusal(delete_price, desk, ADMIN, "m", "soon").param == "since"
    assert audited(desk) == []


def test_a_model_that_is_not_served_is_told_with_the_nearest(desk: Desk) -> None:
    serving = replace(desk, models=lambda: {"gpt-6-sol": 1})
    problem = refusal(set_price, serving, ADMIN, PriceForm("gpt-6-so", PRICE))
    assert (problem.param, "gpt-6-sol" in problem.message) == ("model", True)
    assert set_price(serving, ADMIN, PriceForm("gpt-6-sol", PRICE)).model == "gpt-6-sol"


def test_prices_are_changed_by_admins_and_read_by_those_who_watch(desk: Desk) -> None:
    assert refusal(set_price, desk, READER, PriceForm("m", PRICE)).status == 403
    assert refusal(delete_price, desk, MEMBER, "m").status == 403
    assert refusal(list_prices, desk, MEMBER).status == 403
