"""Tool ids: legal everywhere, the same each time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.tool_ids import legal, minter


@given(st.text())
def test_ids_become_legal_and_legal_ones_stay(call_id: str) -> None:
    assert legal(call_id, "any") == call_id
    for rule, pattern in (("max64", r"[A-Za-z0-9_-]{1,64}"), ("mistral9", r"[A-Za-z0-9]{9}")):
        made = legal(call_id, rule)  # type: ignore[arg-type]
        assert re.fullmatch(pattern, made)
        assert legal(made, rule) == made  # type: ignore[arg-type]
        assert legal(call_id, rule) == made  # type: ignore[arg-type]


def test_different_ids_stay_different() -> None:
    ids = [f"call {n}" for n in range(1000)]
    assert len({legal(i, "mistral9") for i in ids}) == 1000
    assert legal("abcdefgh1", "mistral9") == "abcdefgh1"


def test_minted_ids_are_fresh_by_answer_choice_and_place() -> None:
    a, b = minter("chatcmpl-a"), minter("chatcmpl-b")
    assert len({a(0, 0), a(0, 1), a(1, 0), b(0, 0)}) == 4
    assert a(0, 0) == minter("chatcmpl-a")(0, 0)
