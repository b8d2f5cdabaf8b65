"""Signatures of thinking, as providers make them: opaque outside, checked when they come back.

A provider refuses a signature that it did not make or whose content was changed. So does the
sandbox, so that whoever loses or mixes them up learns it here.
"""

import base64
import hashlib

_MARK = b"sandbox-proof:"
_LENGTH = len(_MARK) + hashlib.sha256().digest_size


def proof(content: str) -> str:
    """The signature of `content`, in base64."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()
    return base64.b64encode(_MARK + digest).decode()


def proves(signature: str, content: str) -> bool:
    """Whether `signature` was made here, for exactly this content."""
    return signature == proof(content)


def genuine(signature: str) -> bool:
    """Whether `signature` was made here, whatever for."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        return False
    return len(raw) == _LENGTH and raw.startswith(_MARK)
