from zurelay.providers.hosts import HOSTS, HUGGINGFACE, OPENROUTER


def test_single_hosts_stand_before_resellers() -> None:
    names = [row.name for row in HOSTS]
    assert names.index("groq") < names.index("openrouter")


def test_a_token_for_downloads_never_sets_up_a_provider() -> None:
    assert HUGGINGFACE.key_variables == ()


def test_openrouter_finds_levels_itself_and_flags_input_with_403() -> None:
    assert OPENROUTER.profile.effort_form == "reasoning_object"
    assert "403" in OPENROUTER.profile.content_codes
