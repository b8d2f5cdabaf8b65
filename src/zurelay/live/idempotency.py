"""Answers that were asked for with an `Idempotency-Key`, while they run and for an hour after.

They are in the memory of this process, packed, and encrypted with a key that is made from the text
of the caller's `Idempotency-Key`, which is not kept: without a repeat of the request they cannot be
read. What nodes know of each other's is in `shared_answers`. Knows no HTTP.
"""

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import zstandard

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.relay.ports import Sink
from zurelay.relay.replay import MOST_HELD, Handle, Kept, Later, Recording, replay

MOST_HELD_TOGETHER = 64 * 1024 * 1024
"""Bytes of memory for all answers, running and kept."""
ENTRY_BYTES = 2048
"""What an answer is taken to need beside its bytes; so their number is bounded too."""
KEPT_SECONDS = 3600.0

_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Use:
    """One request with an `Idempotency-Key`.

    Attributes:
        name: what account and key come to; says nothing of either.
        fingerprint: what the request asks for.
        secret: what the answer is encrypted with; lives as long as the request.
    """

    name: bytes
    fingerprint: bytes
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Earlier:
    """An answer that is there already.

    Attributes:
        request: id of the request that it was made for.
        running: it is not finished.
        attach: gives it to one more caller.
    """

    request: str
    running: bool
    attach: Callable[[Sink], None]


@dataclass(frozen=True, slots=True)
class _Running:
    fingerprint: bytes
    request: str
    recording: Recording


@dataclass(frozen=True, slots=True)
class _Finished:
    fingerprint: bytes
    request: str
    answer: Kept
    held: int
    expiry: Handle


class Idempotency:
    """All uses of `Idempotency-Key` in this process.

    When memory is short the answers that were finished first are given up first; running ones that
    find no room are taken off the record, see `relay.replay`.

    Args:
        later: for answers that have been kept long enough.
        secret: goes into the names and ciphers of all uses; of this process where none is given.
        most_held: bytes of memory for all answers.
        most_each: bytes of memory for one.

    Attributes:
        held: bytes of memory that all answers take.
    """

    def __init__(
        self,
        later: Later,
        *,
        secret: bytes | None = None,
        most_held: int = MOST_HELD_TOGETHER,
        most_each: int = MOST_HELD,
    ) -> None:
        self._later = later
        self._secret = secret or os.urandom(32)
        self._most_held = most_held
        self._most_each = most_each
        self._running: dict[bytes, _Running] = {}
        self._finished: dict[bytes, _Finished] = {}
        self.held = 0

    def use(self, account: str, key: str, parts: Iterable[bytes | memoryview]) -> Use:
        """Name a request.

        Args:
            account: whose it is; the same key of another account is another key.
            key: text of the header.
            parts: what the request asks for: equal parts are the same request.
        """
        told = f"{account}\0{key}".encode("utf-8", "surrogatepass")
        fingerprint = hashlib.sha256()
        for part in parts:
            fingerprint.update(b"%d:" % len(part))
            fingerprint.update(part)
        return Use(
            self._derive(b"name", told), fingerprint.digest(), self._derive(b"encryption", told)
        )

    def find(self, use: Use) -> Earlier | None:
        """The answer to the same request, if it was asked before.

        Raises:
            Refused: 422 if the key belongs to another request, 409 if its answer runs but has
                outgrown what can be kept.
        """
        entry = self._running.get(use.name) or self._finished.get(use.name)
        if entry is None or (isinstance(entry, _Running) and entry.recording.given_up):
            return None
        if entry.fingerprint != use.fingerprint:
            raise Refused(problems.idempotency_key_reused())
        if isinstance(entry, _Finished):
            codec = _Sealed(use.secret)
            return Earlier(entry.request, False, partial(replay, entry.answer, codec))
        if not entry.recording.joinable:
            raise Refused(problems.idempotency_key_in_use())
        return Earlier(entry.request, True, entry.recording.attach)

    def begin(self, use: Use, request: str) -> Recording:
        """Record the answer to a request that `find` does not know; `settle` follows."""
        recording = Recording(_Sealed(use.secret), self._later, self._grew, self._most_each)
        self._running[use.name] = _Running(use.fingerprint, request, recording)
        self._grew(ENTRY_BYTES)
        return recording

    def settle(self, use: Use, recording: Recording, *, keep: bool) -> Kept | None:
        """The run is over; the answer that is kept.

        Without `keep`, or if it was too large, the key is free again.
        """
        answer = recording.settle(keep=keep)
        held = recording.held + ENTRY_BYTES
        entry = self._running.get(use.name)
        if entry is None or entry.recording is not recording:
            self.held -= held  # it was given up, and the same request has begun anew
            return None
        del self._running[use.name]
        if answer is None:
            self.held -= held
            return None
        self._keep(use, entry.request, answer, held)
        return answer

    def adopt(self, use: Use, request: str, answer: Kept) -> Earlier:
        """Keep an answer that was made elsewhere under the same secret, and give it."""
        if use.name not in self._finished:
            held = ENTRY_BYTES + sum(map(len, answer.blocks))
            self._keep(use, request, answer, held)
            self._grew(held)
        return Earlier(request, False, partial(replay, answer, _Sealed(use.secret)))

    # Our own.

    def _derive(self, purpose: bytes, told: bytes) -> bytes:
        return hmac.digest(self._secret, purpose + b"\0" + told, "sha256")

    def _keep(self, use: Use, request: str, answer: Kept, held: int) -> None:
        expiry = self._later(KEPT_SECONDS, partial(self._give_up, use.name))
        self._finished[use.name] = _Finished(use.fingerprint, request, answer, held, expiry)

    def _grew(self, change: int) -> bool:
        self.held += change
        while self.held > self._most_held and self._finished:
            self._give_up(next(iter(self._finished)))
        return self.held <= self._most_held

    def _give_up(self, name: bytes) -> None:
        entry = self._finished.pop(name)
        entry.expiry.cancel()
        self.held -= entry.held


class _Sealed:
    """Blocks compressed, then encrypted with AES-256-GCM under a nonce of their own."""

    def __init__(self, secret: bytes) -> None:
        # Costs 25 ms and 6 MB: only those pay who use the header.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(secret)

    def pack(self, data: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        packed = zstandard.ZstdCompressor(level=1).compress(data)
        return nonce + self._cipher.encrypt(nonce, packed, None)

    def unpack(self, packed: bytes) -> bytes:
        plain = self._cipher.decrypt(packed[:_NONCE_BYTES], packed[_NONCE_BYTES:], None)
        return zstandard.ZstdDecompressor().decompress(plain)
