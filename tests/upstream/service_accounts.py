"""A service account with a real key, and a token endpoint that checks what is signed with it."""

import json
from base64 import urlsafe_b64decode
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from zurelay.testing.script import Script, json_reply
from zurelay.testing.upstream import Request

KEY = generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
EMAIL = "gateway@my-project.iam.gserviceaccount.com"


def key_file(token_uri: str, **changes: Any) -> str:
    """A key file as the cloud console gives it out."""
    fields = {
        "type": "service_account",
        "project_id": "my-project",
        "private_key_id": "key-1",
        "private_key": PEM,
        "client_email": EMAIL,
        "token_uri": token_uri,
        **changes,
    }
    return json.dumps(fields)


def claims(request: Request) -> dict[str, Any]:
    """What a token request claims; raises where its signature is not the account's."""
    form = {name: value[0] for name, value in parse_qs(request.body.decode()).items()}
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    signed, _, signature = form["assertion"].rpartition(".")
    KEY.public_key().verify(_plain(signature), signed.encode(), PKCS1v15(), SHA256())
    header, body = (json.loads(_plain(part)) for part in signed.split("."))
    assert header == {"alg": "RS256", "typ": "JWT", "kid": "key-1"}
    assert isinstance(body, dict)
    return body


def token(name: str = "ya29.token", lasts: int = 3600) -> Script:
    """A token endpoint's good answer."""
    return json_reply({"access_token": name, "expires_in": lasts, "token_type": "Bearer"})


def _plain(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
