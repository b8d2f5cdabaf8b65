from zurelay.providers.discover import discover
from zurelay.providers.registry import KINDS


def test_an_empty_environment_has_no_providers() -> None:
    assert discover({}) == ()


def test_providers_come_in_the_documented_order_whatever_the_environments() -> None:
    found = discover({"GROQ_API_KEY": "g", "XAI_API_KEY": "x", "OPENAI_API_KEY": "o"})
    assert [provider.name for provider in found] == ["openai", "xai", "groq"]
    assert found[0].api_keys == ("o",)
    assert found[0].base_url == "https://api.openai.com/v1"
    assert found[0].label == "OpenAI"


def test_the_first_variable_of_a_vendor_wins_and_blank_ones_do_not_count() -> None:
    both = {"MOONSHOT_API_KEY": " ", "MOONSHOTAI_API_KEY": "second"}
    assert discover(both)[0].api_keys == ("second",)
    assert discover({**both, "MOONSHOT_API_KEY": "first\n"})[0].api_keys == ("first",)


def test_what_has_no_address_or_is_no_vendor_is_never_set_up() -> None:
    assert discover({"AZURE_OPENAI_API_KEY": "a"}) == ()
    assert discover({"HF_TOKEN": "h", "OLLAMA_API_KEY": "o"}) == ()


def test_an_address_in_the_environment_is_not_followed() -> None:
    found = discover({"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"})
    assert found[0].base_url == "https://api.openai.com/v1"


def test_every_hosted_row_with_a_variable_can_be_found() -> None:
    for row in KINDS.values():
        if row.hosted and row.base_url and row.key_variables:
            (found,) = discover({row.key_variables[-1]: "k"})
            assert found.kind is row


def test_a_key_never_shows_in_a_providers_text() -> None:
    assert "sk-secret" not in repr(discover({"OPENAI_API_KEY": "sk-secret"}))
