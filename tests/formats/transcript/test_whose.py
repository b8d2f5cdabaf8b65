import pytest

from zurelay.formats.transcript.whose import end_user


@pytest.mark.parametrize(
    ("front", "body", "user"),
    [
        ("openai_chat", b'{"user":"alice","messages":7}', "alice"),
        ("openai_responses", b'{"input":{},"user":"al\\u0069ce"}', "alice"),
        ("embeddings", b'{"user":"alice"}', "alice"),
        ("anthropic", b'{"messages":[],"metadata":{"user_id":"alice"}}', "alice"),
        ("anthropic", b'{"user":"alice"}', None),
        ("openai_chat", b'{"metadata":{"user_id":"alice"}}', None),
        ("openai_chat", b'{"user":["alice"]}', None),
        ("anthropic", b'{"metadata":"alice"}', None),
        ("openai_chat", b'{"user":"alice"', None),
        ("openai_chat", b'{"user":null}', None),
        ("openai_chat", b'["alice"]', None),
        ("openai_chat", b"", None),
        ("openai_chat", b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", None),
        ("openai_chat", b'{"user":"\xff"}', None),
    ],
)
def test_the_end_user_is_found_in_whatever_can_be_read(
    front: str, body: bytes, user: str | None
) -> None:
    assert end_user(front, body) == user
