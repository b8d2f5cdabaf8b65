"""Signatures of AWS requests, version 4.

Knows the signing process that AWS documents (AWS General Reference, 2026-11-29). Does not know
which services and models are called, nor the time: that is an argument.
"""

from datetime import UTC, datetime
from hashlib import sha256
from hmac import digest
from urllib.parse import quote

import msgspec

from zurelay.providers.base import AwsCredential
from zurelay.upstream.base import Call
from zurelay.upstream.url import parse_url

_ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED = frozenset({"content-type", "host"})
"""Headers under the signature, besides every `x-amz-...`; the client adds others on its way."""


def signed(call: Call, credential: AwsCredential, service: str, now: float) -> Call:
    """`call` with the headers that prove who sends it.

    The signature holds for the call's own bytes and, within minutes, for `now` alone: whatever
    changes the URL, the body or a signed header comes before.

    Args:
        call: its URL's path is percent-encoded.
        credential: who signs, and for which region.
        service: the name the service signs by, such as `bedrock`.
        now: Unix time.
    """
    moment = datetime.fromtimestamp(now, UTC)
    added = [*call.headers, ("x-amz-date", moment.strftime("%Y%m%dT%H%M%SZ"))]
    if credential.session_token:
        added.append(("x-amz-security-token", credential.session_token))
    authorization = _authorization(call, tuple(added), credential, service, moment)
    return msgspec.structs.replace(call, headers=(*added, ("authorization", authorization)))


def _authorization(
    call: Call,
    headers: tuple[tuple[str, str], ...],
    credential: AwsCredential,
    service: str,
    moment: datetime,
) -> str:
    address = parse_url(call.url)
    under = sorted(
        (name, " ".join(value.split()))
        for name, value in (*headers, ("host", address.authority))
        if name in _SIGNED or name.startswith("x-amz-")
    )
    names = ";".join(name for name, _ in under)
    path, _, query = address.target.partition("?")
    request = "\n".join(
        (
            call.method,
            quote(path),  # once more: what is signed is the encoded path, encoded
            "&".join(sorted(query.split("&"))),
            *(f"{name}:{value}" for name, value in under),
            "",
            names,
            sha256(call.body).hexdigest(),
        )
    )
    date = moment.strftime("%Y%m%d")
    scope = f"{date}/{credential.region}/{service}/aws4_request"
    stamp = moment.strftime("%Y%m%dT%H%M%SZ")
    text = "\n".join((_ALGORITHM, stamp, scope, sha256(request.encode()).hexdigest()))
    key = f"AWS4{credential.secret_access_key}".encode()
    for word in scope.split("/"):
        key = digest(key, word.encode(), "sha256")
    signature = digest(key, text.encode(), "sha256").hex()
    told = f"Credential={credential.access_key_id}/{scope}, SignedHeaders={names}"
    return f"{_ALGORITHM} {told}, Signature={signature}"
