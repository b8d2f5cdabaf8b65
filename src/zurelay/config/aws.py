"""Accounts at AWS: which region, and what their requests are signed with.

Knows the environment variables that AWS's own tools read (AWS SDK documentation, 2026-11-29). Reads
neither the environment itself nor files of AWS.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from zurelay.config.settings import ProviderSettings
from zurelay.providers.base import AwsCredential

REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_SITES = (".amazonaws.com", ".amazonaws.com.cn")
FIELDS = ("region", "access_key_id", "secret_access_key", "session_token")
"""Settings that only accounts at AWS have."""

_NO_CREDENTIAL = (
    "Amazon Bedrock wants a credential; write access_key_id and secret_access_key, or"
    ' api_key = "$AWS_BEARER_TOKEN_BEDROCK", or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
)


def completed(one: ProviderSettings, environ: Mapping[str, str]) -> ProviderSettings:
    """The account with what it leaves out taken from AWS's usual variables.

    Keys only where it has neither a key of its own nor another address: they must not sign for a
    stranger unasked.
    """
    region = one.region or next((environ[name] for name in REGION if environ.get(name)), "")
    one = replace(one, region=region)
    if one.api_key or one.api_keys or one.access_key_id or not at_aws(one):
        return one
    key, secret, token = (environ.get(name, "").strip() for name in _KEYS)
    if not (key and secret):
        return one
    return replace(one, access_key_id=key, secret_access_key=secret, session_token=token)


def at_aws(one: ProviderSettings) -> bool:
    """Whether the account is reached at AWS itself."""
    host = urlsplit(one.base_url).hostname or ""
    return not one.base_url or host.endswith(_SITES)


def credential(one: ProviderSettings) -> AwsCredential | None:
    """What requests are signed with; None where a key is sent instead."""
    if not one.access_key_id or one.api_key or one.api_keys:
        return None
    return AwsCredential(
        one.access_key_id, one.secret_access_key, one.region, session_token=one.session_token
    )


def faults(
    one: ProviderSettings, environ: Mapping[str, str], keyed: bool
) -> Iterator[tuple[str, str]]:
    """(setting, what is wrong with it); `keyed`: a key is sent, so that nothing is signed."""
    whole = completed(one, environ)
    if not whole.region and not (keyed and one.base_url):
        yield "region", 'it is missing; write region = "us-east-1", or set AWS_REGION'
    if one.access_key_id and not one.secret_access_key:
        yield "secret_access_key", 'it is missing; write it beside access_key_id: "$NAME"'
    if one.secret_access_key and not one.access_key_id:
        yield "access_key_id", "it is missing; write it beside secret_access_key"
    if (one.api_key or one.api_keys) and one.access_key_id:
        yield "access_key_id", "an api_key is there too; write only one of them"
    if not keyed and not whole.access_key_id and not one.secret_access_key:
        yield "access_key_id", _NO_CREDENTIAL
