"""Proofs of any vendor in the field that callers send back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.parts import Thinking
from zurelay.formats.openai_responses.envelope import NATIVE, seal, unseal


@given(st.text(min_size=1), st.text(max_size=9), st.booleans(), st.none() | st.text(max_size=9))
def test_a_proof_comes_back_as_it_was(
    signature: str, origin: str, redacted: bool, call_id: str | None
) -> None:
    found = unseal("", seal(signature, origin, redacted, call_id))
    assert found == (Thinking("", signature, origin, redacted, call_id),)


def test_shared_thinking_stays_with_its_signature() -> None:
    assert unseal("Hm", seal("S", "a/b", redacted=False)) == (Thinking("Hm", "S", "a/b"),)


def test_shared_thinking_stands_before_a_proof_that_holds_all() -> None:
    shared, proof = unseal("Hm", seal("S", "openai/responses", redacted=True))
    assert shared == Thinking("Hm")
    assert proof == Thinking("", "S", "openai/responses", redacted=True)


def test_what_was_never_wrapped_is_openais_own() -> None:
    assert unseal("", "gAAAA") == (Thinking("", "gAAAA", NATIVE, redacted=True),)


@pytest.mark.parametrize("broken", ["gw1.", "gw1.!!!", "gw1.e30"])
def test_a_broken_envelope_is_no_proof(broken: str) -> None:
    assert unseal("Hm", broken) == (Thinking("Hm"),)
    assert unseal("", broken) == ()
