"""From `[providers.X]` to the providers the gateway calls.

Knows what follows from a kind and an address: which key is used, whose models are served. Reads
neither files nor the environment itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from zurelay.chat.profile import Profile
from zurelay.config import aws, google
from zurelay.config.settings import ProviderSettings, Settings
from zurelay.providers import bedrock
from zurelay.providers.base import Kind, Provider
from zurelay.providers.registry import KINDS
from zurelay.sandbox.upstream import BASE_URL

SANDBOX = "sandbox"
"""Name and kind of the built-in provider."""


def kind_names() -> tuple[str, ...]:
    """Every word that may stand in `kind = "..."`."""
    return tuple(KINDS)


def kind_row(name: str) -> Kind:
    """The row of a known kind."""
    return KINDS[name]


def own_server(settings: ProviderSettings) -> bool:
    """Whether it is a server of the operator's own that speaks OpenAI's format: vLLM, Ollama, ...

    Another host name of the vendor's own domain (`eu.api.openai.com`) is still the vendor.
    """
    if settings.kind != "openai" or not settings.base_url:
        return False
    return not _same_site(settings.base_url, KINDS["openai"].base_url)


def default_key(settings: ProviderSettings, environ: Mapping[str, str]) -> str:
    """The key in the vendor's usual environment variable, or nothing.

    Nothing for an address of the operator's own: a vendor's key must not travel there unasked.
    """
    found = KINDS[settings.kind]
    if found.aws_service and (settings.access_key_id or not aws.at_aws(settings)):
        return ""
    if settings.base_url and found.base_url and not _same_site(settings.base_url, found.base_url):
        return ""
    values = (environ.get(name, "").strip() for name in found.key_variables)
    return next((key for key in values if key), "")


def needs_key(settings: ProviderSettings) -> bool:
    """Whether calls without a key are pointless."""
    return KINDS[settings.kind].key_required and not own_server(settings)


def row(settings: ProviderSettings) -> Kind:
    """The kind's row as it holds for this account."""
    found = KINDS[settings.kind]
    if own_server(settings):
        found = replace(
            found,
            vendor=None,
            lists_models=True,
            hosted=False,
            key_required=False,
            # Most servers that copy the Chat API stop there; who says that Chat lacks something
            # says that the other API is there.
            also=found.also if "chat_lacks" in settings.quirks else (),
            profile=Profile(),  # a plain compatible server; OpenAI's own quirks are not its
        )
    if settings.quirks:
        found = replace(found, profile=found.profile.but(**settings.quirks))
    return found


def provider(name: str, settings: ProviderSettings) -> Provider:
    """The account called `name`."""
    found = row(settings)
    base_url = settings.base_url or found.base_url
    if found.aws_service and not base_url:
        base_url = bedrock.address(settings.region)
    if google.is_vertex(settings):
        base_url = google.address(settings)
    return Provider(
        name=name,
        kind=found,
        base_url=base_url,
        api_keys=settings.api_keys or ((settings.api_key,) if settings.api_key else ()),
        label=settings.label,
        max_concurrency=settings.max_concurrency,
        single_tenant=settings.single_tenant,
        headers=tuple(settings.headers.items()),
        aws=aws.credential(settings) if found.aws_service else None,
        service_account=google.account(settings) if google.is_vertex(settings) else None,
    )


def providers(settings: Settings) -> tuple[Provider, ...]:
    """All providers, in file order, the sandbox last."""
    found = [provider(name, one) for name, one in settings.providers.items()]
    if settings.sandbox.enabled and SANDBOX not in settings.providers:
        found.append(Provider(name=SANDBOX, kind=KINDS[SANDBOX], base_url=BASE_URL))
    return tuple(found)


def serves_catalogue(name: str, settings: Settings) -> bool:
    """Whether the provider serves everything it has, not only what routes name."""
    one = settings.providers.get(name)
    return one is None or one.catalogue


def _same_site(url: str, vendor_url: str) -> bool:
    host = urlsplit(url).hostname or ""
    site = ".".join((urlsplit(vendor_url).hostname or "").split(".")[-2:])
    return host == site or host.endswith(f".{site}")
