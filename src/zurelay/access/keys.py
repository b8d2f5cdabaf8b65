"""API keys: their form, what they may do, and how a call shows one.

A key is `zk-`, 256 random bits in base62, and a checksum that tells typing errors and foreign
strings apart without a look-up. Only its SHA-256 and last four characters are ever kept. Nothing
here knows a clock, a store or a source of randomness.
"""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from zurelay.access.accounts import Account, Budget
from zurelay.access.auto import AutoTerms
from zurelay.chat.problems import Refused, invalid_key

PREFIX = "zk-"
ADMIN_PREFIX = "zka-"
CONSOLE_ID = "key_console_"
"""How the ids begin of keys that the console made to ask models with; nobody has their text."""

RANDOM_BYTES = 32

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY = 43  # base62 digits of 256 bits
_CHECK = 6  # base62 digits of a CRC-32


@dataclass(frozen=True, slots=True)
class Key:
    """An API key as the gateway knows it.

    Attributes:
        id: `key_...`.
        account: id of the account it spends for; `account_name` for people.
        hash: SHA-256 of its text.
        last4: the last four characters of its text.
        models: ids it may use, or `prefix/*` for all that begin so; None for every model.
        created, expires, revoked: Unix seconds; a key is good before `expires`.
        rpm, tpm, concurrency: requests and tokens a minute, requests at once; None for no limit.
        last_used: Unix seconds, some seconds behind.
        markup: decimal factor on prices, instead of its account's.
        owner: its account's terms; None where they do not matter.
        previous_hash: SHA-256 of its text before it was rotated, good before `previous_until`.
        auto: what differs for it in the smart choice.
        store_days: how long its messages are stored; None: they are not.
    """

    id: str
    name: str
    account: str
    account_name: str
    hash: bytes
    last4: str
    created: int
    models: tuple[str, ...] | None = None
    expires: int | None = None
    revoked: int | None = None
    budget: Budget | None = None
    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None
    last_used: int | None = None
    markup: str | None = None
    owner: Account | None = None
    previous_hash: bytes | None = None
    previous_until: int | None = None
    auto: AutoTerms | None = None
    store_days: int | None = None

    def may_use(self, model: str) -> bool:
        """Whether the key may use that public model id; its parameters (`?...`) do not count."""
        if self.models is None:
            return True
        name = model.partition("?")[0]
        return any(
            name.startswith(allowed[:-1]) if allowed.endswith("/*") else name == allowed
            for allowed in self.models
        )

    def state(self, now: float) -> Literal["live", "revoked", "expired", "stopped"]:
        """Whether calls may be made with it."""
        if self.revoked is not None:
            return "revoked"
        if self.expires is not None and now >= self.expires:
            return "expired"
        stopped = self.owner is not None and self.owner.stopped is not None
        return "stopped" if stopped else "live"


def make_key(random: bytes, prefix: str = PREFIX) -> str:
    """The text of a new key from 32 random bytes."""
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"a key is made of {RANDOM_BYTES} random bytes")
    body = _base62(int.from_bytes(random, "big"), _BODY)
    return f"{prefix}{body}{_checksum(body)}"


def well_formed(text: str, prefix: str = PREFIX) -> bool:
    """Whether it has the form of a key and its checksum is right."""
    body, check = text[len(prefix) : -_CHECK], text[-_CHECK:]
    return (
        len(text) == len(prefix) + _BODY + _CHECK
        and text.startswith(prefix)
        and text.isascii()
        and check == _checksum(body)
    )


def hash_key(text: str) -> bytes:
    """What is stored of a key: 32 bytes of SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def last4(text: str) -> str:
    """What people recognise a key by."""
    return text[-4:]


def by_hash(keys: Iterable[Key]) -> dict[bytes, Key]:
    """Keys by the hashes of their texts; a text that was replaced opens its key for a time."""
    found: dict[bytes, Key] = {}
    for key in keys:
        found[key.hash] = key
        if key.previous_hash is not None and key.previous_until is not None:
            end = (
                key.previous_until if key.expires is None else min(key.expires, key.previous_until)
            )
            found[key.previous_hash] = replace(key, expires=end)
    return found


def end_of_day(day: date) -> int:
    """Unix seconds at which a key that expires on that day stops working: its end in UTC."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return int((start + timedelta(days=1)).timestamp())


def parse_authorization(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key a call shows by `authorization: Bearer` or `x-api-key`, as text.

    Raises:
        Refused: 401 when there is none, or two that differ, or another scheme. The message never
            holds what was sent.
    """
    shown: set[bytes] = set()
    for name, value in headers:
        lower = name.lower()
        if lower == b"x-api-key":
            shown.add(value.strip())
        elif lower == b"authorization":
            scheme, _, token = value.strip().partition(b" ")
            if scheme.lower() != b"bearer":
                raise Refused(invalid_key("Use 'Authorization: Bearer KEY' with an API key."))
            shown.add(token.strip())
    shown.discard(b"")
    if not shown:
        raise Refused(
            invalid_key(
                "No API key was given. Send it as 'Authorization: Bearer KEY' or 'x-api-key: KEY'."
            )
        )
    if len(shown) > 1:
        raise Refused(invalid_key("The 'authorization' and 'x-api-key' headers differ; send one."))
    return shown.pop().decode("utf-8", "surrogateescape")


def refused_key(text: str, key: Key | None) -> Refused:
    """The 401 for a key that does not work; says why without repeating it.

    Args:
        text: what was shown.
        key: what is known of it: revoked, expired, stopped, or None if it is unknown.
    """
    if key is not None and key.owner is not None and key.owner.stopped is not None:
        return Refused(invalid_key("This API key's account has been stopped."))
    if key is not None:
        why = "has been revoked" if key.revoked is not None else "has expired"
        return Refused(invalid_key(f"This API key {why}."))
    if text.startswith(ADMIN_PREFIX):
        return Refused(invalid_key("This is an admin token; model calls take an API key (zk-...)."))
    if not text.startswith(PREFIX):
        return Refused(invalid_key("This is not a key of this gateway; its keys begin with 'zk-'."))
    if not well_formed(text):
        return Refused(invalid_key("The API key is mistyped or cut off: its checksum is wrong."))
    return Refused(invalid_key("The API key is unknown here."))


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECK)


def _base62(number: int, digits: int) -> str:
    out = []
    for _ in range(digits):
        number, digit = divmod(number, 62)
        out.append(_ALPHABET[digit])
    return "".join(reversed(out))
