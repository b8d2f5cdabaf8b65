"""Top-level fields: what checks note besides refusing."""

import json
from typing import Any

import pytest

from zurelay.chat.problems import Refused
from zurelay.formats.base import Ability
from zurelay.formats.openai_chat import checks
from zurelay.formats.openai_chat.view import REQUEST, Request
from zurelay.formats.seen import Seen

TOOL = {"type": "function", "function": {"name": "f", "strict": False}}


def view(**fields: Any) -> Request:
    return REQUEST.decode(json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        (None, False),
        ("auto", False),
        ("none", False),
        ("required", True),
        ({"type": "function", "function": {"name": "f"}}, True),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, False),
    ],
)
def test_tools_and_force_are_needs(choice: Any, forced: bool) -> None:
    seen = Seen()
    checks.tools(view(tools=[TOOL], tool_choice=choice), seen)
    assert seen.needs.get(Ability.TOOLS) == "tools"
    assert (Ability.FORCED_TOOL in seen.needs) == forced
    assert "strict" in seen.marks


@pytest.mark.parametrize("choice", ["auto", "none", None])
def test_a_choice_without_tools_is_harmless_unless_it_forces(choice: Any) -> None:
    seen = Seen()
    checks.tools(view(tool_choice=choice), seen)
    assert seen.needs == {}


def test_alternatives_and_stops_keep_their_order() -> None:
    assert checks.alternatives(["b", "a", "b"]) == ("b", "a")
    assert checks.alternatives(None) is None
    marks: set[str] = set()
    assert checks.stops(["b", "a"], marks) == ("b", "a")
    assert checks.stops(None, marks) == checks.stops([], marks) == ()
    assert marks == set()


@pytest.mark.parametrize(("stop", "kept"), [("", ()), (["", "a", ""], ("a",)), ([""], ())])
def test_empty_stops_ask_for_nothing(stop: str | list[str], kept: tuple[str, ...]) -> None:
    marks: set[str] = set()
    assert checks.stops(stop, marks) == kept
    assert marks == {"empty_stop"}


def test_limits_are_inclusive() -> None:
    checks.numbers(view(temperature=2, top_p=1, n=128, max_tokens=1))
    checks.stays_here(view(user="x" * 256, metadata={"k" * 64: "v" * 512}))
    for wrong in ({"n": 129}, {"temperature": -1}, {"max_tokens": 1 << 60}):
        with pytest.raises(Refused):
            checks.numbers(view(**wrong))
