"""Passwords: hashed with Argon2id, and what one must be. Knows nobody they belong to."""

from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from zurelay.office.desk import wrong

SHORTEST: Final = 10
LONGEST: Final = 200

# OWASP's first choice for Argon2id (2026-11-29): 19 MiB, two passes, one lane.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_NOBODYS = (
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5cyBzYWx0IQ$5GPTBPbHr8vXhxnVZQ/GLuARlq2S5DMEYHWo7LZLr3g"
)


def hashed(text: str, param: str = "password") -> str:
    """A password as it is kept. Takes some 20 ms. Raises Refused for one that is too short."""
    if not SHORTEST <= len(text) <= LONGEST:
        raise wrong(param, f"{param}: write {SHORTEST} to {LONGEST} characters.")
    return _HASHER.hash(text)


def verified(kept: str | None, text: str) -> bool:
    """Whether a password is the one that is kept.

    Where none is kept that takes as long, so that nobody learns who may sign in.
    """
    try:
        _HASHER.verify(_NOBODYS if kept is None else kept, text[:LONGEST])
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None
