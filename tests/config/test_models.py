import pytest

from zurelay.catalogue.model import FREE
from zurelay.config import values as v
from zurelay.config.models import (
    HEADERS,
    INPUT,
    LIMITS,
    PRICE,
    QUIRKS,
    REASONING,
    ROUTES,
    ModelLimits,
    RouteSetting,
)
from zurelay.config.values import UNRESOLVED, Outside, Type, Wrong


def faults(of: Type, value: object) -> list[tuple[v.Path, str]]:
    with pytest.raises(Wrong) as caught:
        of.read(value)
    return list(caught.value.faults)


def test_routes_are_names_or_tables() -> None:
    found = ROUTES.read(["a", {"provider": "b", "model": "m", "weight": 2, "priority": 3}])
    assert found == (RouteSetting("a"), RouteSetting("b", "m", 2.0, 3))


def test_every_faulty_route_is_named() -> None:
    found = faults(ROUTES, [{"provder": "b"}, 3, {"provider": "b", "weight": -1}])
    assert [path for path, _ in found] == [(0, "provder"), (0, "provider"), (1,), (2, "weight")]
    assert 'Did you mean "provider"?' in found[0][1]


def test_an_empty_list_of_routes_is_refused() -> None:
    assert "name at least one provider" in faults(ROUTES, [])[0][1]


def test_a_price_is_kept_exactly() -> None:
    price = PRICE.read({"input": "4.00", "cached_input": "0.20", "output": "0.000000000001"})
    assert price.classes == {
        "input": 4 * 10**12,
        "cached_input": 2 * 10**11,
        "output": 1,
    }


def test_a_price_may_be_free() -> None:
    assert PRICE.read("free").classes == FREE.classes


def test_a_price_with_a_fraction_is_told_to_be_text() -> None:
    ((path, message),) = faults(PRICE, {"input": 4.5, "output": "1"})
    assert path == ("input",)
    assert '"4.00"' in message


def test_the_place_inside_a_price_is_named() -> None:
    value = {"input": "1", "output": "1", "above": [{"prompt_tokens": 5, "input": "x"}]}
    assert faults(PRICE, value)[0][0] == ("above", 0, "input")


def test_a_price_from_outside_is_never_shown() -> None:
    ((_, message),) = faults(PRICE, {"input": Outside("sk-1"), "output": "1"})
    assert "sk-1" not in message


def test_a_price_with_a_dead_reference_is_no_second_fault() -> None:
    assert faults(PRICE, {"input": UNRESOLVED, "output": "1"}) == []


def test_reasoning_has_levels_and_a_default_among_them() -> None:
    found = REASONING.read({"levels": ["low", "high"], "default": "low"})
    assert (found.levels, found.default) == (("low", "high"), "low")
    assert faults(REASONING, {"levels": ["low"], "default": "max"})[0][0] == ("default",)
    assert faults(REASONING, {"levels": ["hihg"]})[0][0] == ("levels",)


def test_kinds_of_input_are_known_words() -> None:
    assert INPUT.read(["image", "text"]) == ("text", "image")
    assert "Did you mean" in faults(INPUT, ["txt"])[0][1]


def test_quirks_are_checked_against_the_profile() -> None:
    assert QUIRKS.read({"think_tags": True, "refuses": ["seed"]}) == {
        "think_tags": True,
        "refuses": frozenset({"seed"}),
    }
    assert 'Did you mean "think_tags"?' in faults(QUIRKS, {"think_tag": True})[0][1]
    assert faults(QUIRKS, {"think_tags": "yes"})[0][0] == ("think_tags",)


def test_headers_are_lower_case_names_with_ascii_values() -> None:
    assert HEADERS.read({"X-Team": "search "}) == {"x-team": "search"}


@pytest.mark.parametrize(
    "value",
    [
        {"Host": "x"},
        {"content-length": "1"},
        {"a b": "x"},
        {"x": "line\nbreak"},
        {"x": "é"},
        {"x": 1},
        {"x": "1", "X": "2"},
    ],
)
def test_a_header_that_would_break_a_request_is_refused(value: object) -> None:
    assert len(faults(HEADERS, value)) == 1


def test_limits_may_be_any_of_the_three() -> None:
    assert LIMITS.read({"tpm": 5000}) == ModelLimits(tpm=5000)
    assert LIMITS.read({}) == ModelLimits()
    found = faults(LIMITS, {"rpm": 0, "tmp": 4})
    assert [path for path, _ in found] == [("rpm",), ("tmp",)]
    assert 'Did you mean "tpm"?' in found[1][1]
