import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.chat.redact import HIDDEN, cut, plain, redact


@pytest.mark.parametrize(
    "secret",
    [
        "https://user:pw@api.example.com/v1?key=abc",
        "http://10.0.0.5:8000/v1",
        "sandbox://local/v1",
        "sk-abcdef123456",
        "sk-proj-abc_DEF-123456",
        "sk-ab****************3456",
        "gsk_abcdefghijk",
        "xai-abcdefghijkl",
        "AIzaSyA1234567890abcdefg",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
        "org-AbC123def456",
        "proj_AbC123def456",
        "acct_1234567",
        "arn:aws:bedrock:us-east-1:123456789012:model/x",
        "123456789012",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "someone@example.com",
        "192.168.1.10",
        "192.168.1.10:8080",
        "fe80:0:0:0:1:2:3:4",
        "localhost:8000",
        "gpu7.internal",
        "inference.eu-west.example.ai:443",
    ],
)
def test_what_looks_like_a_secret_goes(secret: str) -> None:
    told = redact(f"Failed for {secret}, try again")
    assert secret not in told
    assert told.startswith("Failed for ")
    assert told.endswith("try again")


def test_a_bearer_token_goes_but_the_word_stays() -> None:
    assert redact("sent Bearer abc.def-ghi now") == f"sent Bearer {HIDDEN} now"


def test_names_in_paths_go() -> None:
    assert "my-project" not in redact("projects/my-project/locations/x denied")


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 128000 tokens.",
        "Unsupported value: 'temperature' does not support 0.7 with this model.",
        "messages[2].content[0].type must be one of text, image_url",
        "sandbox/lorem has no parameter 'tokenz'; it takes tokens, first, tps.",
        "invalid api_version, user_message or team_member",
        "Rate limit reached. Please try again in 2s.",
        "gpt-5.4-mini and claude-opus-5-5 at 12:30:45",
        "Größe überschritten: 你好 😀",
    ],
)
def test_plain_words_stay(text: str) -> None:
    assert redact(text) == text


def test_configured_secrets_go_in_any_case_and_the_longest_first() -> None:
    secrets = frozenset({"house-key", "house-key-long", "HOST-7"})
    told = redact("used HOUSE-KEY-LONG at host-7, house-key", secrets)
    assert told == f"used {HIDDEN} at {HIDDEN}, {HIDDEN}"


def test_a_secret_is_no_pattern() -> None:
    assert redact("a.c+d and abcd", {"a.c+d"}) == f"{HIDDEN} and abcd"


def test_secrets_of_a_few_characters_are_ignored() -> None:
    assert redact("a cat sat", {"a", "cat", ""}) == "a cat sat"


def test_a_short_secret_is_found_as_a_word_and_a_long_one_anywhere() -> None:
    assert redact("gpu7 but not gpu77", {"gpu7"}) == f"{HIDDEN} but not gpu77"
    assert redact("xxhouse-keyxx", {"house-key"}) == f"xx{HIDDEN}xx"


def test_an_invisible_character_does_not_hide_a_secret() -> None:
    assert "house-key" not in redact("house\u200b-key", {"house-key"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\r\nlines", "two lines"),
        ("bell\x07 and \x1b[31mred", "bell and [31mred"),
        ("right\u202eleft", "rightleft"),
        ("half \ud800 pair", "half  pair"),
        ("tab\tand\x85next", "tab and next"),
    ],
)
def test_what_cannot_be_seen_goes(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert redact(text) == shown


def test_a_long_text_is_cut_at_a_kilobyte_of_bytes() -> None:
    told = redact("é" * 2000)
    assert len(told.encode()) <= 1024
    assert told.endswith("...")
    assert set(told) == {"é", "."}


def test_a_text_of_exactly_the_limit_is_not_cut() -> None:
    assert cut("x" * 1024) == "x" * 1024


def test_half_a_secret_at_a_cut_does_not_show() -> None:
    secret = "secretsecretsecret"
    text = " ".join([secret] * 2000)
    told = redact(text, {secret})
    assert "secret" not in told


@given(st.text(alphabet=st.characters(codec=None), max_size=300), st.sets(st.text(min_size=4)))
def test_what_is_shown_is_short_and_visible_whatever_the_text(text: str, secrets: set[str]) -> None:
    told = redact(text, secrets)
    assert len(told.encode()) <= 1024  # which also proves that it can be encoded
    assert told == plain(told)


@given(st.text(max_size=50), st.text(max_size=50))
def test_a_configured_secret_goes_whatever_stands_around_it(before: str, after: str) -> None:
    assert "house-key-77" not in redact(f"{before}house-key-77{after}", {"house-key-77"})


@pytest.mark.parametrize(
    "text", ["a." * 8000, "a-" * 8000, "eyJ-" * 4000, "1:" * 8000, "@a" * 8000]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 2
