"""Signed thinking goes back only to where it came from."""

from zurelay.formats.origin import carrier, is_foreign, may_read, origin


def test_a_proof_is_read_by_its_own_realm_and_carrier_alone() -> None:
    found = origin("openai", "responses")
    assert may_read(found, "openai", "responses")
    assert not may_read(found, "azure-openai", "responses")
    assert not may_read(found, "openai", "messages")


def test_nothing_is_read_without_an_origin_or_a_realm() -> None:
    assert not may_read(None, "openai", "responses")
    assert not may_read(origin("", "responses"), "", "responses")


def test_marks_of_other_programs_are_never_foreign() -> None:
    assert is_foreign(origin("openai", "responses"), "azure-openai")
    assert not is_foreign(origin("openai", "responses"), "openai")
    assert not is_foreign("openai-responses-v1", "azure-openai")
    assert not is_foreign(None, "openai")


def test_the_carrier_comes_back_as_it_was() -> None:
    assert carrier(origin("openrouter", "anthropic-claude-v1")) == "anthropic-claude-v1"
    assert carrier("anthropic-claude-v1") == "anthropic-claude-v1"
    assert carrier(None) is None
