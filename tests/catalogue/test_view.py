import pytest

from zurelay.catalogue.load import standard
from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.catalogue.price import parse_price
from zurelay.catalogue.view import (
    PageError,
    levels_text,
    messages_model_list,
    messages_model_view,
    model_list,
    model_view,
    off_text,
    price_view,
    range_view,
)


def model(name: str, **changes: object) -> Model:
    return Model(id=name, name=name.upper(), vendor="lab", upstream="secret", **changes)  # type: ignore[arg-type]


SEVEN = [model(name) for name in "abcdefg"]


def test_a_view_has_every_documented_field_and_no_upstream_name() -> None:
    seen = model_view(
        model(
            "m",
            context=10,
            max_output=5,
            input=("text", "image"),
            reasoning=Reasoning(("low",), "low"),
            price=parse_price({"input": "4", "cached_input": "0.2", "output": "20"}),
            released="1970-01-02",
        ),
        routes_up=2,
        now=0,
        owner="zurelay",
    )
    assert seen == {
        "id": "m",
        "object": "model",
        "created": 86400,
        "owned_by": "lab",
        "name": "M",
        "context": 10,
        "max_output": 5,
        "input_modalities": ["text", "image"],
        "reasoning": {"levels": ["low"], "default": "low"},
        "price": {"input": "4.00", "cached_input": "0.20", "output": "20.00"},
        "routes_up": 2,
    }
    assert "secret" not in str(seen)


def test_what_is_unknown_is_null() -> None:
    seen = model_view(model("m"), 0, 0, "zurelay")
    assert (seen["context"], seen["reasoning"], seen["price"]) == (None, None, None)


def test_a_model_of_no_vendor_is_owned_by_the_gateway() -> None:
    bare = Model(id="m", name="m", vendor="", upstream="m")
    assert model_view(bare, 1, 0, "acme")["owned_by"] == "acme"


def test_a_price_is_shown_as_its_caller_pays_it_to_the_last_digit() -> None:
    price = parse_price(
        {
            "input": "0.000000000001",
            "output": "2",
            "per_request": "0.005",
            "per_call": {"web_search": "0.01"},
            "tiers": {"priority": "2"},
        }
    )
    shown = model_view(model("m", price=price, markup=1_250_000), 1, 0, "x")["price"]
    assert shown == {
        "input": "0.00000000000125",
        "output": "2.50",
        "per_request": "0.00625",
        "per_call": {"web_search": "0.0125"},
        "tiers": {"priority": {"input": "0.0000000000025", "output": "5.00"}},
    }
    own = model_view(model("m", price=price, markup=1_250_000), 1, 0, "x", markup=1_000_000)
    assert own["price"]["output"] == "2.00"


def test_price_steps_and_fees_are_shown() -> None:
    price = parse_price(
        {
            "input": "1",
            "output": "2",
            "per_request": "0.005",
            "above": [{"prompt_tokens": 9, "input": "2", "output": "4"}],
        }
    )
    assert price_view(price) == {
        "input": "1.00",
        "output": "2.00",
        "per_request": "0.005",
        "above": [{"prompt_tokens": 9, "input": "2.00", "output": "4.00"}],
    }
    assert price_view(Price({"input": 0, "output": 0})) == {"input": "0.00", "output": "0.00"}


def test_the_list_has_openais_shape() -> None:
    assert model_list([{"id": "m"}]) == {"object": "list", "data": [{"id": "m"}]}


def test_anthropics_shape_has_a_display_name_and_a_date() -> None:
    seen = messages_model_view(model("m", released="2026-10-14", context=10, max_output=5))
    assert seen == {
        "type": "model",
        "id": "m",
        "display_name": "M",
        "created_at": "2026-10-14T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 10,
        "max_tokens": 5,
    }


def test_a_model_with_a_last_day_is_deprecated() -> None:
    seen = messages_model_view(model("m", retires="2027-01-14"))
    assert (seen["lifecycle"], seen["retires_at"]) == ("deprecated", "2027-01-14T00:00:00Z")


def ids(page: dict[str, object]) -> str:
    data = page["data"]
    assert isinstance(data, list)
    return "".join(one["id"] for one in data)


def test_pages_go_forwards_and_backwards() -> None:
    first = messages_model_list(SEVEN, {"limit": "3"})
    assert (ids(first), first["has_more"]) == ("abc", True)
    assert (first["first_id"], first["last_id"]) == ("a", "c")
    second = messages_model_list(SEVEN, {"limit": "4", "after_id": "c"})
    assert (ids(second), second["has_more"]) == ("defg", False)
    back = messages_model_list(SEVEN, {"limit": "2", "before_id": "e"})
    assert (ids(back), back["has_more"]) == ("cd", True)
    empty = messages_model_list(SEVEN, {"after_id": "g"})
    assert (empty["data"], empty["first_id"], empty["has_more"]) == ([], None, False)


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"after_id": "nobody"}, "after_id"),
        ({"before_id": "nobody"}, "before_id"),
    ],
)
def test_a_page_that_cannot_be_cut_names_its_parameter(query: dict[str, str], param: str) -> None:
    with pytest.raises(PageError) as told:
        messages_model_list(SEVEN, query)
    assert told.value.param == param


def test_every_shipped_model_can_be_shown() -> None:
    for models in standard().by_vendor.values():
        for one in models:
            assert model_view(one, 1, 1.8e9, "zurelay")["id"] == one.id
            assert messages_model_view(one)["display_name"]


@pytest.mark.parametrize(
    ("levels", "default", "shown", "off"),
    [
        (("none", "low"), "low", "none low*", "off"),
        (("low", "high"), None, "low high", "low"),
        ((), None, "", "off"),
    ],
)
def test_levels_are_told_on_one_line_with_what_none_becomes(
    levels: tuple[str, ...], default: str | None, shown: str, off: str
) -> None:
    reasoning = Reasoning(levels, default)
    assert (levels_text(reasoning, mark="*"), off_text(reasoning)) == (shown, off)


def test_several_prices_are_a_range_by_class_with_each_ones_mark_up() -> None:
    plain = parse_price({"input": "1.00", "output": "9.00"})
    other = parse_price({"input": "2.00", "output": "5.00", "cached_input": "0.20"})
    assert range_view([(plain, 1_000_000), (other, 1_500_000)]) == {
        "from": {"input": "1.00", "cached_input": "0.30", "output": "7.50"},
        "to": {"input": "3.00", "cached_input": "0.30", "output": "9.00"},
    }
    assert range_view([]) is None
