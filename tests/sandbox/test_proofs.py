import pytest

from zurelay.sandbox.proofs import genuine, proof, proves


def test_a_proof_holds_for_its_content_alone() -> None:
    assert proves(proof("thought"), "thought")
    assert not proves(proof("thought"), "thought ")
    assert proof("thought") != proof("")


@pytest.mark.parametrize("content", ["", "thought", "\ud800", "Größe 🤔"])
def test_a_proof_is_known_again(content: str) -> None:
    assert genuine(proof(content))


@pytest.mark.parametrize("other", ["", "no base64!", "eA==", proof("x")[:-4], "A" * 64])
def test_what_was_not_made_here_is_not_genuine(other: str) -> None:
    assert not genuine(other)
