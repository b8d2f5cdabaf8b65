from dataclasses import fields
from typing import get_args, get_type_hints
from urllib.parse import urlsplit

import pytest

from zurelay.catalogue.load import standard
from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind
from zurelay.providers.registry import KINDS

ROWS = [pytest.param(row, id=name) for name, row in KINDS.items()]


def words(hint: object) -> tuple[object, ...]:
    return get_args(hint)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_where_its_facts_come_from(row: Kind) -> None:
    assert row.title
    assert row.source
    assert row.checked >= "2026-11-29"


@pytest.mark.parametrize("row", ROWS)
def test_a_vendor_is_reached_over_tls_and_a_server_of_ones_own_on_loopback(row: Kind) -> None:
    assert not row.base_url.endswith("/")
    url = urlsplit(row.base_url)
    if row.hosted:
        assert url.scheme == "https" or row.name in ("azure-openai", "bedrock", "vertex")
    elif row.base_url:
        assert (url.scheme, url.hostname) == ("http", "127.0.0.1")


@pytest.mark.parametrize("row", ROWS)
def test_servers_of_ones_own_need_no_key_and_list_their_models(row: Kind) -> None:
    if not row.hosted and row.name != "sandbox":
        assert row.lists_models
        assert not row.key_required
        assert row.key_variables == ()
        assert row.vendor is None


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_a_catalogue_or_a_list_or_neither_for_a_reason(row: Kind) -> None:
    if row.vendor is not None:
        assert standard().by_vendor[row.vendor]
    else:
        assert row.lists_models or row.name == "azure-openai"


@pytest.mark.parametrize("row", ROWS)
def test_profile_words_are_known_words(row: Kind) -> None:
    hints = get_type_hints(Profile)
    for field in fields(Profile):
        allowed = words(hints[field.name])
        value = getattr(row.profile, field.name)
        if allowed and all(isinstance(word, str) for word in allowed):
            assert value in allowed, field.name


@pytest.mark.parametrize("row", ROWS)
def test_a_profile_does_not_refuse_what_it_adds_or_needs(row: Kind) -> None:
    profile = row.profile
    assert not profile.refuses & profile.adds.keys()
    assert "max_tokens" not in profile.refuses
    assert not ("stream_options" in profile.refuses and profile.asks_usage)
    assert 0 <= profile.temperature_min < profile.temperature_max <= 2


def test_no_key_variable_stands_for_two_vendors() -> None:
    variables = [variable for row in KINDS.values() for variable in row.key_variables]
    assert len(variables) == len(set(variables))


def test_a_name_is_the_key_of_its_row() -> None:
    assert all(name == row.name for name, row in KINDS.items())


def test_only_openai_itself_and_azure_take_the_developer_role() -> None:
    taking = {name for name, row in KINDS.items() if row.profile.developer_role}
    assert taking == {"openai", "azure-openai", "sandbox"}


def test_two_vendors_never_read_each_others_signed_thinking() -> None:
    realms = [row.profile.realm for row in KINDS.values() if row.profile.realm]
    assert len(realms) == len(set(realms))
