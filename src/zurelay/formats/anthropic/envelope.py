"""Proofs of thinking that did not come from Anthropic, in the one field that callers send back.

A proof of Anthropic's own stands there as it is. Any other is wrapped with its origin, so that it
is found again, and never taken for one of Anthropic's. Pure and reversible.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from zurelay.chat.parts import Thinking
from zurelay.formats.anthropic import ORIGIN
from zurelay.formats.origin import origin

NATIVE = origin("anthropic", ORIGIN)
_MARK = "gw1."
_PLAIN = "plain"


class _Sealed(msgspec.Struct, array_like=True):
    origin: str = ""
    signature: str = ""
    redacted: bool = False
    call_id: str | None = None


_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(_Sealed).decode


def seal(signature: str, found: str | None, redacted: bool, call_id: str | None = None) -> str:
    """The signature that callers see of a proof whose origin is `found`."""
    if found == NATIVE and not redacted and call_id is None:
        return signature
    raw = _ENCODE(_Sealed(found or "", signature, redacted, call_id))
    return _MARK + urlsafe_b64encode(raw).decode().rstrip("=")


def unsigned(realm: str) -> str:
    """The signature of thinking that came from `realm` without a proof."""
    return seal("", origin(realm, _PLAIN) if realm else "", redacted=False)


def is_foreign(signature: str) -> bool:
    """Whether a signature is none of Anthropic's: it is wrapped, or there is none."""
    return not signature or signature.startswith(_MARK)


def unseal(text: str, signature: str) -> tuple[Thinking, ...]:
    """The thinking behind a block that a caller sends back."""
    if not signature:
        return (Thinking(text),) if text else ()
    if not signature.startswith(_MARK):
        return (Thinking(text, signature, NATIVE),)
    raw = signature.removeprefix(_MARK)
    try:
        found = _DECODE(urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
    except (ValueError, msgspec.DecodeError):
        return (Thinking(text),) if text else ()
    if not found.signature:
        return (Thinking(text, None, found.origin or None),) if text else ()
    proof = Thinking("", found.signature, found.origin, found.redacted, found.call_id)
    if found.redacted or found.call_id is not None:
        return (Thinking(text), proof) if text else (proof,)
    return (Thinking(text, found.signature, found.origin),)
