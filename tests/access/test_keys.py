from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.access.keys import (
    Key,
    by_hash,
    end_of_day,
    hash_key,
    last4,
    make_key,
    parse_authorization,
    refused_key,
    well_formed,
)
from zurelay.chat.problems import Refused

SECRETS = st.binary(min_size=32, max_size=32)
TEXT = make_key(bytes(range(32)))


def a_key(**changes: object) -> Key:
    fields: dict[str, object] = {
        "id": "key_1",
        "name": "laptop",
        "account": "acct_1",
        "account_name": "default",
        "hash": hash_key(TEXT),
        "last4": last4(TEXT),
        "created": 1000,
    }
    return Key(**(fields | changes))  # type: ignore[arg-type]


@given(SECRETS)
def test_a_new_key_is_well_formed_and_has_one_length(random: bytes) -> None:
    text = make_key(random)
    assert well_formed(text)
    assert len(text) == 52
    assert text.startswith("zk-")
    assert text[3:].isalnum()


@given(SECRETS, SECRETS)
def test_other_random_bits_give_another_key(one: bytes, two: bytes) -> None:
    assert (make_key(one) == make_key(two)) == (one == two)


def test_a_key_needs_all_of_its_random_bits() -> None:
    with pytest.raises(ValueError, match="32"):
        make_key(b"short")


@given(SECRETS, st.integers(3, 51), st.sampled_from("0123456789abcxyzABCXYZ-é"))
def test_one_wrong_character_is_noticed(random: bytes, place: int, wrong: str) -> None:
    text = make_key(random)
    typed = text[:place] + wrong + text[place + 1 :]
    assert well_formed(typed) == (typed == text)


@pytest.mark.parametrize(
    "text", ["", "zk-", TEXT[:-1], TEXT + "0", "sk-" + TEXT[3:], TEXT.upper(), " " + TEXT]
)
def test_what_is_no_key_is_not_well_formed(text: str) -> None:
    assert not well_formed(text)


def test_only_a_hash_and_the_end_are_kept() -> None:
    assert hash_key(TEXT).hex() == __import__("hashlib").sha256(TEXT.encode()).hexdigest()
    assert last4(TEXT) == TEXT[-4:]


def test_a_key_without_a_list_may_use_every_model() -> None:
    assert a_key().may_use("anything")


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        ("gpt-6-sol", True),
        ("gpt-6-sol-pro", False),
        ("gpt-6", False),
        ("openai/gpt-oss-20b", True),
        ("openai/", True),
        ("openai", False),
        ("sandbox/slow?first=3", True),
        ("sandbox/echo", False),
    ],
)
def test_a_list_of_models_allows_ids_and_everything_below_a_prefix(
    model: str, allowed: bool
) -> None:
    key = a_key(models=("gpt-6-sol", "openai/*", "sandbox/slow"))
    assert key.may_use(model) is allowed


def test_an_empty_list_allows_nothing() -> None:
    assert not a_key(models=()).may_use("gpt-6-sol")


def test_a_key_works_until_the_moment_it_expires() -> None:
    key = a_key(expires=2000)
    assert key.state(1999.9) == "live"
    assert key.state(2000.0) == "expired"
    assert a_key(expires=2000, revoked=1500).state(3000) == "revoked"


def test_a_date_of_expiry_means_the_end_of_that_day_in_utc() -> None:
    assert end_of_day(date(1970, 1, 1)) == 86_400
    assert end_of_day(date(2026, 12, 31)) == 1_798_761_600


@pytest.mark.parametrize(
    "headers",
    [
        [(b"authorization", b"Bearer zk-1")],
        [(b"Authorization", b"bearer   zk-1 ")],
        [(b"x-api-key", b"zk-1")],
        [(b"x-api-key", b"zk-1"), (b"host", b"x"), (b"authorization", b"Bearer zk-1")],
        [(b"x-api-key", b""), (b"authorization", b"Bearer zk-1")],
    ],
)
def test_a_key_is_shown_as_bearer_or_as_x_api_key(headers: list[tuple[bytes, bytes]]) -> None:
    assert parse_authorization(headers) == "zk-1"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"authorization", b"")],
        [(b"authorization", b"Bearer")],
        [(b"authorization", b"Basic emstMTp4")],
        [(b"cookie", b"key=zk-secret")],
        [(b"x-api-key", b"zk-secret"), (b"authorization", b"Bearer zk-other")],
        [(b"x-api-key", b"zk-secret"), (b"x-api-key", b"zk-other")],
    ],
)
def test_without_one_clear_key_a_call_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(Refused) as refused:
        parse_authorization(headers)
    assert refused.value.problem.status == 401
    assert refused.value.problem.code == "invalid_api_key"
    assert "secret" not in refused.value.problem.message


def test_bytes_that_are_no_text_are_only_an_unknown_key() -> None:
    text = parse_authorization([(b"authorization", b"Bearer \xff\xfe")])
    assert len(hash_key(text)) == 32
    assert "mistyped" not in refused_key(text, None).problem.message


@pytest.mark.parametrize(
    ("text", "key", "word"),
    [
        (TEXT, a_key(revoked=1), "revoked"),
        (TEXT, a_key(expires=1), "expired"),
        (TEXT, None, "unknown"),
        (TEXT[:-1] + "!", None, "checksum"),
        ("sk-secret-of-another-service", None, "zk-"),
        ("zka-secret", None, "admin token"),
    ],
)
def test_a_refusal_says_why_and_never_what_was_sent(text: str, key: Key | None, word: str) -> None:
    problem = refused_key(text, key).problem
    assert problem.status == 401
    assert word in problem.message
    assert text not in problem.message


def test_a_text_that_was_replaced_opens_its_key_until_the_overlap_ends() -> None:
    key = a_key(hash=b"new", previous_hash=b"old")
    assert set(by_hash([key])) == {b"new"}
    known = by_hash([replace(key, previous_until=100)])
    assert known[b"new"].expires is None
    assert known[b"old"].id == "key_1"
    assert known[b"old"].state(99) == "live"
    assert known[b"old"].state(100) == "expired"
    sooner = by_hash([replace(key, previous_until=100, expires=50)])
    assert sooner[b"old"].expires == 50
