from zurelay.chat.profile import Profile
from zurelay.providers.compatible import AZURE_OPENAI, DEEPSEEK, LABS, MISTRAL, OPENAI, ZAI


def test_openai_takes_the_new_token_limit_and_deepseek_the_old() -> None:
    assert OPENAI.profile.token_limit_field == "max_completion_tokens"
    assert DEEPSEEK.profile.token_limit_field == "max_tokens"


def test_azure_sends_its_key_in_a_header_of_its_own_and_has_no_address() -> None:
    assert AZURE_OPENAI.auth == "api-key"
    assert AZURE_OPENAI.base_url == ""
    assert AZURE_OPENAI.runs_models_of == "openai"


def test_deepseek_gets_an_empty_thinking_where_it_is_lost() -> None:
    assert DEEPSEEK.profile.reasoning_in == "reasoning_content"
    assert DEEPSEEK.profile.reasoning_placeholder == ""


def test_mistral_is_never_asked_for_usage_and_gets_short_tool_ids() -> None:
    assert not MISTRAL.profile.asks_usage
    assert MISTRAL.profile.tool_ids == "mistral9"
    assert MISTRAL.profile.seed_field == "random_seed"


def test_zai_says_an_empty_account_with_a_429_of_its_own() -> None:
    assert {(429, "1113"), (429, "1308"), (429, "1321")} <= ZAI.profile.out_of_credit
    assert (429, "1302") not in ZAI.profile.out_of_credit
    assert "1302" in ZAI.profile.rate_limit_codes


def test_no_lab_is_a_plain_row_without_a_thought() -> None:
    assert all(row.profile != Profile() for row in LABS)
