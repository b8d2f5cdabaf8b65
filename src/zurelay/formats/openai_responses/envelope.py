"""Proofs of thinking in `encrypted_content`, the field that callers send back.

Every proof is wrapped with its origin and a version, so that it is found again and never shown to
a provider that did not make it. One that was never wrapped is OpenAI's own. Pure and reversible.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from zurelay.chat.parts import Thinking
from zurelay.formats.openai_responses import ORIGIN
from zurelay.formats.origin import origin

NATIVE = origin("openai", ORIGIN)
_MARK = "gw1."


class _Sealed(msgspec.Struct, array_like=True):
    origin: str = ""
    signature: str = ""
    redacted: bool = False
    call_id: str | None = None


_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(_Sealed).decode


def seal(signature: str, origin: str | None, redacted: bool, call_id: str | None = None) -> str:
    """The encrypted content that callers see."""
    raw = _ENCODE(_Sealed(origin or "", signature, redacted, call_id))
    return _MARK + urlsafe_b64encode(raw).decode().rstrip("=")


def unseal(text: str, encrypted: str) -> tuple[Thinking, ...]:
    """The thinking behind an item that a caller sends back."""
    shared = (Thinking(text),) if text else ()
    if not encrypted:
        return shared
    if not encrypted.startswith(_MARK):
        return (*shared, Thinking("", encrypted, NATIVE, redacted=True))
    raw = encrypted.removeprefix(_MARK)
    try:
        found = _DECODE(urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
    except (ValueError, msgspec.DecodeError):
        return shared
    if not found.signature:
        return shared
    if found.redacted or found.call_id is not None:
        proof = Thinking("", found.signature, found.origin, found.redacted, found.call_id)
        return (*shared, proof)
    return (Thinking(text, found.signature, found.origin),)
