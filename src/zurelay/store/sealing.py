"""Encryption of what is stored: AES-256-GCM under a key made of the operator's text.

A sealed text is a byte of its form, four that name the key, a nonce of twelve, and the rest. It
opens only under the name that it was sealed for, so that one row's cannot be put into another's.
Knows nothing of what is in it.
"""

import hashlib
import os
from collections.abc import Sequence
from typing import Final

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_FORM: Final = b"\x01"
_NAME: Final = 4
_NONCE: Final = 12
_MOST: Final = 256 * 1024 * 1024
_LEVEL: Final = 3
_DOMAIN: Final = b"zurelay stored content v1"


class UnreadableError(Exception):
    """A sealed text cannot be opened. `known`: its key is one of ours, so it was tampered with."""

    def __init__(self, *, known: bool) -> None:
        super().__init__("it was changed" if known else "it was sealed with a key not known here")
        self.known = known


class Sealer:
    """Seals with the first of its keys, opens with any."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Make the keys of the operator's texts; at least one."""
        keys = [_key(text) for text in texts]
        self._ciphers = {_name(key): AESGCM(key) for key in reversed(keys)}
        self._first = _name(keys[0])

    def seal(self, name: str, data: bytes) -> bytes:
        """`data`, compressed and encrypted for that name."""
        nonce = os.urandom(_NONCE)
        packed = zstandard.ZstdCompressor(level=_LEVEL).compress(data)
        cipher = self._ciphers[self._first]
        return _FORM + self._first + nonce + cipher.encrypt(nonce, packed, _bound(name))

    def open(self, name: str, sealed: bytes) -> bytes:
        """What was sealed for that name.

        Raises:
            UnreadableError: by another key, for another name, or it was changed.
        """
        cipher = self._ciphers.get(sealed[1 : 1 + _NAME])
        if sealed[:1] != _FORM or cipher is None:
            raise UnreadableError(known=False)
        start = 1 + _NAME
        nonce, rest = sealed[start : start + _NONCE], sealed[start + _NONCE :]
        try:
            packed = cipher.decrypt(nonce, rest, _bound(name))
            return zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MOST)
        except (InvalidTag, ValueError, zstandard.ZstdError):
            raise UnreadableError(known=True) from None


def _key(text: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=_DOMAIN).derive(text.encode())


def _name(key: bytes) -> bytes:
    """What tells keys apart, and tells nothing of them."""
    return hashlib.sha256(_DOMAIN + b" name" + key).digest()[:_NAME]


def _bound(name: str) -> bytes:
    return _FORM + name.encode()
