"""Anthropic's row."""

from zurelay.providers.anthropic import ANTHROPIC, MESSAGES
from zurelay.providers.base import Provider
from zurelay.providers.registry import KINDS


def test_it_is_a_kind_found_in_the_environment_first() -> None:
    assert KINDS["anthropic"] is ANTHROPIC
    assert next(iter(KINDS)) == "anthropic"
    assert MESSAGES == (ANTHROPIC,)
    assert ANTHROPIC.key_variables == ("ANTHROPIC_API_KEY",)


def test_its_key_goes_into_a_header_of_its_own() -> None:
    provider = Provider("a", ANTHROPIC, ANTHROPIC.base_url, ("KEY",), headers=(("x", "y"),))
    assert provider.auth_headers() == (("x-api-key", "KEY"), ("x", "y"))
