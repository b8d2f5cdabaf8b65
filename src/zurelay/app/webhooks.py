"""Webhooks: JSON sent to somebody's server, signed as the Standard Webhooks scheme says.

Those of members go to public addresses alone: each is checked after it was resolved, and the
connection goes to that very address. The environment's proxies are not used and redirects not
followed. Knows no outbox.
"""

import asyncio
import base64
import hashlib
import hmac
import ssl
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from zurelay.upstream.addresses import is_public
from zurelay.upstream.base import Call, ErrorKind, UpstreamError
from zurelay.upstream.client import HttpClient
from zurelay.upstream.dialing import Resolve, resolver
from zurelay.upstream.tls import client_context
from zurelay.upstream.url import parse_url

SECONDS: Final = 10.0
_CONNECT_SECONDS = 5.0
_LONGEST_URL = 2000
_MOST_LOOKUPS = 4


class WebhookError(Exception):
    """A webhook that was not taken, and why. `final`: another try is of no use."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


class Webhooks:
    """Sends webhooks; one for each event loop.

    Args:
        seconds: for each, all in all.
        ports: those that members' may go to; `allowed` the addresses.
        resolve: finds a name's addresses; by default the system's resolver.
        context: gives the TLS context.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        ports: Collection[int] = (80, 443),
        allowed: Callable[[str], bool] = is_public,
        resolve: Resolve | None = None,
        context: Callable[[], ssl.SSLContext] = client_context,
    ) -> None:
        # Names that never resolve must not hold up those of upstreams.
        self._names = ThreadPoolExecutor(_MOST_LOOKUPS, thread_name_prefix="webhook-names")
        resolve = resolve or resolver(self._names)
        self._outside = HttpClient(most_idle=0, allowed=allowed, resolve=resolve, context=context)
        self._anywhere = HttpClient(most_idle=0, resolve=resolve, context=context)
        self._seconds = seconds
        self._ports = ports

    async def send(
        self, id_: str, url: str, body: str, secret: str, now: float, *, inside: bool
    ) -> None:
        """Send one.

        Args:
            id_: the same for every try.
            url: where to.
            body: JSON.
            secret: signs it; none where it is empty.
            now: Unix time.
            inside: whether it may go to any address: the operators' own.

        Raises:
            WebhookError: it was not taken.
        """
        try:
            self._check(url, inside=inside)
        except ValueError as error:
            raise WebhookError(str(error), final=True) from None
        call = Call(
            method="POST",
            url=url,
            headers=(("content-type", "application/json"), *signed(id_, body, secret, now)),
            body=body.encode(),
            connect_deadline=_CONNECT_SECONDS,
        )
        client = self._anywhere if inside else self._outside
        try:
            async with asyncio.timeout(self._seconds), client.stream(call) as stream:
                status = stream.status
        except UpstreamError as error:
            raise WebhookError(_why(error, inside=inside)) from None
        except TimeoutError:
            raise WebhookError(f"no answer in {self._seconds:g} s") from None
        if not 200 <= status < 300:
            raise WebhookError(f"it answers with status {status}", final=status == 410)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._outside.aclose()
        await self._anywhere.aclose()
        self._names.shutdown(wait=False, cancel_futures=True)

    def _check(self, url: str, *, inside: bool) -> None:
        """Raises ValueError where nothing may be sent to."""
        if len(url) > _LONGEST_URL:
            raise ValueError("the URL is too long")
        if parse_url(url).port not in self._ports and not inside:
            raise ValueError("a webhook's port must be 80 or 443")


def signed(id_: str, body: str, secret: str, now: float) -> tuple[tuple[str, str], ...]:
    """The headers of the Standard Webhooks scheme, version 1."""
    at = str(int(now))
    headers = (("webhook-id", id_), ("webhook-timestamp", at))
    if not secret:
        return headers
    digest = hmac.digest(_key(secret), f"{id_}.{at}.{body}".encode(), hashlib.sha256)
    return (*headers, ("webhook-signature", f"v1,{base64.b64encode(digest).decode()}"))


def _key(secret: str) -> bytes:
    """The bytes of `whsec_` and base64, as the scheme writes secrets; of others their text."""
    if secret.startswith("whsec_"):
        try:
            return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except ValueError:
            pass
    return secret.encode()


def _why(error: UpstreamError, *, inside: bool) -> str:
    """For a member's: nothing that would tell which names and ports there are inside."""
    if not inside and error.kind in (ErrorKind.DNS, ErrorKind.CONNECT):
        return "it cannot be reached from here"
    return str(error)
