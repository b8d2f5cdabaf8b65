"""Proofs of other vendors in the field that Anthropic's clients send back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.parts import Thinking
from zurelay.formats.anthropic.envelope import NATIVE, is_foreign, seal, unseal, unsigned


def test_anthropics_own_stands_as_it_is() -> None:
    assert seal("SIG", NATIVE, redacted=False) == "SIG"
    assert not is_foreign("SIG")
    assert unseal("t", "SIG") == (Thinking("t", "SIG", NATIVE),)


@given(st.text(min_size=1), st.text(min_size=1), st.booleans(), st.none() | st.text(min_size=1))
def test_what_is_sealed_is_found_again(
    signature: str, origin: str, redacted: bool, call_id: str | None
) -> None:
    sealed = seal(signature, origin, redacted, call_id)
    if origin == NATIVE and not redacted and call_id is None:
        return
    assert is_foreign(sealed)
    assert sealed.isascii()
    proof = unseal("t", sealed)[-1]
    assert (proof.signature, proof.origin, proof.redacted, proof.call_id) == (
        signature,
        origin,
        redacted,
        call_id,
    )


def test_a_hidden_proof_stands_beside_the_text_that_was_shown() -> None:
    sealed = seal("ENC", "openai/responses", redacted=True)
    assert unseal("summary", sealed) == (
        Thinking("summary"),
        Thinking("", "ENC", "openai/responses", redacted=True),
    )
    assert unseal("", sealed) == (Thinking("", "ENC", "openai/responses", redacted=True),)


@pytest.mark.parametrize("signature", ["", unsigned(""), "gw1.!!!", "gw1.e30"])
def test_thinking_without_a_proof(signature: str) -> None:
    assert is_foreign(signature)
    assert unseal("t", signature) == (Thinking("t"),)
    assert unseal("", signature) == ()


def test_where_thinking_without_a_proof_came_from_is_known() -> None:
    assert unseal("t", unsigned("deepseek")) == (Thinking("t", None, "deepseek/plain"),)
