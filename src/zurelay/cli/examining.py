"""Whether providers can be reached, and what their answers say about our credential and clock.

Asks each for its list of models, which costs nothing. Prints nothing.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

import msgspec

from zurelay.cli.options import http_client
from zurelay.cli.terminal import counted
from zurelay.providers.base import Provider
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient
from zurelay.upstream.credentials import Credentials
from zurelay.upstream.reading import fetch

_SECONDS = 10.0
_LIMIT = 16 * 1024 * 1024
_CLOCK_SECONDS = 2.0
"""A `date` header is whole seconds old already when it comes."""

State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report."""

    what: str
    state: State
    says: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of asking one provider.

    Attributes:
        offset: seconds that our clock is ahead of the provider's, None if it told no time.
    """

    finding: Finding
    offset: float | None = None


async def examine(providers: Sequence[Provider]) -> list[Seen]:
    """Ask all providers at once."""
    async with http_client() as client:
        return list(await asyncio.gather(*(_ask(client, one) for one in providers)))


async def _ask(client: HttpClient, provider: Provider) -> Seen:
    call = Call(
        method="GET",
        url=f"{provider.base_url}/models",
        headers=(("accept", "application/json"), *provider.auth_headers()),
        body=b"",
        connect_deadline=_SECONDS,
        limit=_LIMIT,
    )
    what = f"provider {provider.name}"
    credentials = Credentials(client, time.time)
    account = provider.service_account
    asker = client if account is None else credentials.client(account)
    started = time.monotonic()
    try:
        async with asyncio.timeout(_SECONDS):
            response = await fetch(asker, call)
    except UpstreamError as error:
        says = f"{provider.base_url} cannot be reached ({error.kind.value}): {error}"
        return Seen(Finding(what, "fault", says))
    except TimeoutError:
        return Seen(
            Finding(what, "fault", f"{provider.base_url} does not answer in {_SECONDS:g} s")
        )
    finally:
        await credentials.aclose()
    took = time.monotonic() - started
    state, says = judged(response.status, response.body)
    if provider.kind.aws_service and response.status < 500:
        # It has no list of models, and says so in several ways; nothing was signed.
        state, says = "ok", "reached; its credential shows with the first request"
    if account is not None and response.status == 200:
        # What is listed there are the project's own models, mostly none.
        state, says = "ok", "reached, its credential is good"
    line = f"{provider.base_url}: {says} ({took * 1000:.0f} ms)"
    return Seen(Finding(what, state, line), offset(response.headers, time.time()))


def judged(status: int, body: bytes) -> tuple[State, str]:
    """What an answer to a call for the list of models means."""
    match status:
        case 200:
            count = _models(body)
            if count is None:
                return "warning", "reached, but its list of models cannot be read"
            return "ok", f"reached, {counted(count, 'model')}"
        case 400 if b"API_KEY_INVALID" in body:  # Google's word for it
            return "fault", "refuses our credential (status 400)"
        case 401 | 403:
            return "fault", f"refuses our credential (status {status})"
        case 402:
            return "fault", "our account there has no money (status 402)"
        case 404 | 405:
            return "ok", "reached; it has no list of models"
        case 429:
            return "warning", "reached, but too many requests (status 429)"
        case _ if status >= 500:
            return "warning", f"reached, but in trouble (status {status})"
        case _:
            return "warning", f"reached, but answers with status {status}"


def offset(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that our clock is ahead of the `date` of an answer."""
    try:
        return now - parsedate_to_datetime(headers["date"]).timestamp()
    except (LookupError, ValueError, TypeError):
        return None


def clock(offsets: Sequence[float]) -> Finding:
    """What the providers' clocks say about ours: the one that agrees best counts."""
    if not offsets:
        return Finding("clock", "ok", "no provider told the time")
    best = min(offsets, key=abs)
    if abs(best) <= _CLOCK_SECONDS:
        return Finding("clock", "ok", "agrees with the providers'")
    way = "ahead" if best > 0 else "behind"
    return Finding("clock", "warning", f"{abs(best):.0f} s {way} of the providers'; set it")


def _models(body: bytes) -> int | None:
    try:
        found = msgspec.json.decode(body)
        return len(found["models" if "models" in found else "data"])  # Google calls it models
    except (msgspec.DecodeError, LookupError, TypeError):
        return None
