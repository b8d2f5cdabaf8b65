"""What makes two requests the same; the rest is tested through the whole gateway."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import Raw

from zurelay.access.keys import Key
from zurelay.api import idempotency
from zurelay.chat.problems import Refused
from zurelay.formats.base import Inbound
from zurelay.live.idempotency import Idempotency, Use

KEY = Key("key_1", "k", "acct_1", "a", b"", "1234", 0)


class Reading:
    def __init__(self) -> None:
        def never(_seconds: float, _call: Any) -> Any:
            raise AssertionError

        self.core: Any = SimpleNamespace(parts=SimpleNamespace(idempotency=Idempotency(never)))

    def __call__(
        self, value: bytes | None, path: str = "/v1/chat/completions", **fields: str
    ) -> Use | None:
        exchange: Any = SimpleNamespace(header=lambda _: value, path=path)
        body = {name: Raw(text.encode()) for name, text in fields.items()}
        return idempotency.read(self.core, exchange, KEY, Inbound("openai_chat", body, "m"))


def test_without_the_header_there_is_nothing() -> None:
    assert Reading()(None, model='"m"') is None


def test_equal_bodies_at_one_path_are_the_same_request() -> None:
    read = Reading()
    assert read(b"k", model='"m"', n="1") == read(b"k", model='"m"', n="1")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v1/responses", {"model": '"m"', "n": "1"}),
        ("/v1/chat/completions", {"model": '"m"', "n": "2"}),
        ("/v1/chat/completions", {"model": '"m"'}),
        ("/v1/chat/completions", {"model": '"m"n', "": "1"}),
        ("/v1/chat/completions", {"model": '"m"', "n": "1", "top_p": "1"}),
    ],
)
def test_anything_else_is_another_request(path: str, fields: dict[str, str]) -> None:
    read = Reading()
    first = cast("Use", read(b"k", model='"m"', n="1"))
    other = cast("Use", read(b"k", path, **fields))
    assert first.name == other.name
    assert first.fingerprint != other.fingerprint


@pytest.mark.parametrize("value", [b"", b" ", b"a b", b"\x7f", b"\xe9", b"x" * 256])
def test_the_header_takes_visible_ascii(value: bytes) -> None:
    with pytest.raises(Refused) as caught:
        Reading()(value)
    problem = caught.value.problem
    assert (problem.status, problem.code, problem.param) == (400, "invalid_value", None)
    assert "Idempotency-Key" in problem.message
