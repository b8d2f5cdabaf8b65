"""The model lists of servers that tell their own: asked at start, at reload and now and then."""

import asyncio
from collections.abc import Iterable, Mapping

import msgspec
import structlog

from zurelay.providers.base import Provider
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient

log = structlog.get_logger("zurelay.app")

_SECONDS = 3.0
_LIMIT = 8 * 1024 * 1024


class _Entry(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Entry]


_decode = msgspec.json.Decoder(_Models).decode


async def ask_all(
    client: HttpClient, providers: Iterable[Provider], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Provider name -> model ids, for providers whose kind lists its own models.

    One that does not answer keeps what is `known` of it; it is asked again later.
    """
    listing = [one for one in providers if one.kind.lists_models]
    found = await asyncio.gather(*(_ask(client, one) for one in listing))
    lists: dict[str, tuple[str, ...]] = {}
    for one, ids in zip(listing, found, strict=True):
        if ids is None and one.name not in known:
            log.warning("provider tells no models", provider=one.name, url=one.base_url)
        lists[one.name] = known.get(one.name, ()) if ids is None else ids
    return lists


async def _ask(client: HttpClient, provider: Provider) -> tuple[str, ...] | None:
    call = Call(
        method="GET",
        url=f"{provider.base_url}/models",
        headers=(("accept", "application/json"), *provider.auth_headers()),
        body=b"",
        connect_deadline=_SECONDS,
        limit=_LIMIT,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            response = await client.fetch(call)
        if response.status != 200:
            return None
        return tuple(entry.id for entry in _decode(response.body).data)
    except (UpstreamError, TimeoutError, msgspec.MsgspecError):
        return None
