"""Ids of tool calls, made legal by pure functions.

The same id gives the same result in a call and in its result, today and in the next turn, so that
a conversation reads the same each time it is sent. Nothing is ever hidden in an id.
"""

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Literal

Rule = Literal["any", "max64", "mistral9"]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_MAX64 = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NINE = re.compile(r"[A-Za-z0-9]{9}")


def legal(call_id: str, rule: Rule) -> str:
    """`call_id` where `rule` allows it, else a stand-in derived from it."""
    if rule == "any":
        return call_id
    if rule == "mistral9":
        return call_id if _NINE.fullmatch(call_id) else base62(call_id, 9)
    return call_id if _MAX64.fullmatch(call_id) else "call_" + base62(call_id, 24)


def base62(text: str, length: int) -> str:
    """The first `length` digits (at most 42) of the SHA-256 of `text`."""
    number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(digits)


def minter(answer_id: str) -> Callable[[int, int], str]:
    """A source of ids for calls that came without one: by choice and place, fresh per answer."""
    return lambda choice, index: "call_" + base62(f"{answer_id}:{choice}:{index}", 24)
