"""Signed thinking goes back only to where it came from."""

from zurelay.formats.origin import is_ours, may_read, origin


def test_a_proof_is_read_by_its_own_realm_and_carrier_alone() -> None:
    found = origin("openai", "responses")
    assert may_read(found, "openai", "responses")
    assert not may_read(found, "azure-openai", "responses")
    assert not may_read(found, "openai", "messages")


def test_nothing_is_read_without_an_origin_or_a_realm() -> None:
    assert not may_read(None, "openai", "responses")
    assert not may_read(origin("", "responses"), "", "responses")


def test_origins_of_other_programs_are_told_apart() -> None:
    assert is_ours(origin("openai", "responses"))
    assert not is_ours("openai-responses-v1")
    assert not is_ours(None)
