"""Tool-call deltas of one choice."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.openai_chat.calls import CallReader, join_arguments

OPENING = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}


def reader() -> CallReader:
    return CallReader(lambda index: f"minted{index}")


def test_what_openai_writes_is_left_as_it_is() -> None:
    calls = reader()
    later = {"index": 0, "function": {"arguments": "{}"}}
    assert calls.read([OPENING]) == [OPENING]
    assert calls.read([later]) == [later]
    assert calls.any
    assert calls.is_open(0)
    assert not calls.is_open(1)


def test_further_fields_of_an_opening_stay() -> None:
    extra = {"extra_content": {"google": {"thought_signature": "S"}}}
    assert reader().read([{**OPENING, **extra}]) == [{**OPENING, **extra}]


def test_a_call_waits_for_its_name() -> None:
    calls = reader()
    assert calls.read([{"index": 0, "function": {"arguments": "{"}}]) == []
    assert not calls.any
    (opened,) = calls.read([{"index": 0, "function": {"name": "f", "arguments": "}"}}])
    assert (opened["id"], opened["function"]["arguments"]) == ("minted0", "{}")


def test_a_number_of_another_order_is_not_open_for_the_short_way() -> None:
    calls = reader()
    (opened,) = calls.read([{**OPENING, "index": 3}])
    assert opened["index"] == 0
    assert not calls.is_open(3)


def test_freeform_calls_pass() -> None:
    custom = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "g", "input": "x"}}
    assert reader().read([custom]) == [custom]


def test_arguments_become_a_string() -> None:
    assert join_arguments('{"a": 1}') == '{"a": 1}'
    assert join_arguments({"a": 1}) == '{"a":1}'
    assert join_arguments(None) == ""


PIECE: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(-1, 2) | st.none() | st.text(max_size=1),
        "id": st.sampled_from(["", "a", "b", None, 5]),
        "function": st.fixed_dictionaries(
            {}, optional={"name": st.sampled_from(["", "f", "g", None]), "arguments": st.sampled_from(["", "x", None, {}])}
        )
        | st.none(),
    },
)  # fmt: skip


@given(st.lists(PIECE, max_size=8))
def test_calls_always_open_once_in_order_with_an_id_of_their_own(pieces: list[Any]) -> None:
    calls = reader()
    opened: list[str] = []
    for delta in calls.read(pieces):
        if "id" in delta:
            assert delta["index"] == len(opened)
            assert delta["function"]["name"]
            opened.append(delta["id"])
        assert 0 <= delta["index"] < len(opened)
        assert isinstance(delta["function"]["arguments"], str)
    assert len(set(opened)) == len(opened)
    assert all(opened)
