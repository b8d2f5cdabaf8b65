"""Accounts at Vertex AI: which project and region, and who asks for tokens.

Reads neither files nor the environment: what stands in a file has been read before.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from zurelay.config.settings import ProviderSettings
from zurelay.providers.base import ServiceAccount
from zurelay.providers.google import (
    HOST,
    LOCATION,
    PROJECT,
    VERTEX,
    service_account,
    vertex_address,
)

FIELDS = ("project", "location", "credentials")
"""Settings that only accounts at Vertex AI have."""

_USUAL = "global"
_WRITE = 'credentials = "file:/run/secrets/service-account.json"'


def is_vertex(one: ProviderSettings) -> bool:
    """Whether these settings are meant for it."""
    return one.kind == VERTEX.name


def account(one: ProviderSettings) -> ServiceAccount | None:
    """Who asks for tokens; None where a key is sent instead.

    Raises:
        ValueError: what is written there is no service account.
    """
    return service_account(one.credentials) if one.credentials else None


def address(one: ProviderSettings) -> str:
    """Where its models are reached.

    A `base_url` with a project in it is whole; any other one stands in for the usual host. With a
    key and no project it is the express mode's address.
    """
    if "/projects/" in urlsplit(one.base_url).path:
        return one.base_url
    found = account(one)
    project = one.project or (found.project if found else "")
    if not project:
        return f"{one.base_url or HOST}/v1"
    return vertex_address(project, one.location or _USUAL, one.base_url)


def faults(one: ProviderSettings, *, keyed: bool) -> Iterator[tuple[str, str]]:
    """(setting, what is wrong with it); `keyed`: a key is sent, so that no token is needed."""
    if one.project and not PROJECT.fullmatch(one.project):
        yield "project", "no project id; write it as the cloud console shows it"
    if one.location and not LOCATION.fullmatch(one.location):
        yield "location", 'no region; write for example "global" or "europe-west4"'
    if keyed and one.credentials:
        yield "credentials", "an api_key is there too; write only one of them"
    elif not keyed and not one.credentials:
        yield "credentials", f"Vertex AI wants a credential; write {_WRITE}, or an api_key"
    elif one.credentials:
        try:
            found = service_account(one.credentials)
        except ValueError as error:
            yield "credentials", f"no key file of a service account: {error}; write {_WRITE}"
            return
        if not one.project and not found.project and "/projects/" not in one.base_url:
            yield "project", 'it is missing; write project = "my-project"'
