import pytest

from zurelay.access.keys import hash_key, last4, make_key, well_formed
from zurelay.access.tokens import (
    AdminToken,
    Role,
    is_token,
    make_token,
    not_allowed,
    parse_bearer,
    refused_token,
)
from zurelay.chat.problems import Refused

TEXT = make_token(b"\x07" * 32)


def token(role: Role = "admin", revoked: int | None = None) -> AdminToken:
    return AdminToken("tok_1", "t", role, hash_key(TEXT), last4(TEXT), 1000, revoked)


def refusal(*headers: tuple[bytes, bytes]) -> str:
    with pytest.raises(Refused) as found:
        parse_bearer(headers)
    assert found.value.problem.status == 401
    return found.value.problem.message


def test_a_token_is_made_like_a_key_and_is_none() -> None:
    key = make_key(b"\x07" * 32)
    assert TEXT.startswith("zka-")
    assert TEXT[4:] == key[3:]
    assert is_token(TEXT)
    assert not is_token(key)
    assert not well_formed(TEXT)


def test_a_mistyped_token_is_told_from_an_unknown_one() -> None:
    wrong = TEXT[:-1] + ("a" if TEXT[-1] != "a" else "b")
    assert not is_token(wrong)
    assert "checksum" in refusal((b"authorization", b"Bearer " + wrong.encode()))
    assert "unknown" in str(refused_token(TEXT, None))
    assert "revoked" in str(refused_token(TEXT, token(revoked=5)))


def test_a_token_is_shown_as_a_bearer_only() -> None:
    shown = TEXT.encode()
    assert parse_bearer([(b"host", b"x"), (b"Authorization", b"bearer  " + shown)]) == TEXT
    assert "admin token is wanted" in refusal()
    assert "admin token is wanted" in refusal((b"x-api-key", shown))
    assert "admin token is wanted" in refusal((b"authorization", b"Basic " + shown))
    assert "admin token is wanted" in refusal((b"authorization", b"Bearer sk-123"))
    other = make_token(b"\x08" * 32).encode()
    both = ((b"authorization", b"Bearer " + shown), (b"authorization", b"Bearer " + other))
    assert "admin token is wanted" in refusal(*both)


def test_an_api_key_opens_nothing_and_is_not_repeated() -> None:
    key = make_key(b"\x09" * 32)
    said = refusal((b"authorization", b"Bearer " + key.encode()))
    assert "API key" in said
    assert key not in said


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
def test_a_read_only_token_changes_nothing(method: str) -> None:
    assert token("read-only").may(method) == (method in ("GET", "HEAD"))
    assert token("admin").may(method)
    assert token("owner").may(method)
    assert not_allowed(token("read-only")).problem.status == 403
