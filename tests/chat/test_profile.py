"""What a provider refuses depends on whether the model thinks."""

from zurelay.chat.profile import Profile


def test_a_thinking_model_refuses_more() -> None:
    profile = Profile(refuses=frozenset({"n"}), refuses_while_thinking=frozenset({"top_p"}))
    assert profile.refused(thinks=False) == {"n"}
    assert profile.refused(thinks=True) == {"n", "top_p"}
