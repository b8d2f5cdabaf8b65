"""Access tokens of Google service accounts: asked for, kept, and sent with each call.

A client in front of the client: a call with a good token at hand goes out at once; one without
waits for it, and hears of a refused credential as an answer with status 401. Knows no formats and
no providers beyond the account itself. Protocol: RFC 7523, section 2.1.
"""

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from typing_extensions import override

from zurelay.providers.base import ServiceAccount
from zurelay.upstream.base import Call, Client, ErrorKind, Handle, Receiver, UpstreamError
from zurelay.upstream.reading import fetch

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"

EARLY_SECONDS = 300.0
"""This long before its end a token is renewed while it is still in use."""

SPARE_SECONDS = 10.0
"""This long before its end a token is sent no more."""

_ASSERTION_SECONDS = 3600
_DEADLINE_SECONDS = 15.0
_LIMIT = 64 * 1024
_FORM = (("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json"))


class TokenRefused(Exception):  # noqa: N818 - says what happened
    """No token was given.

    Attributes:
        status: the HTTP status a call without one ends with.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def signing_key(account: ServiceAccount) -> RSAPrivateKey:
    """The account's private key, ready to sign; checking it takes some ten milliseconds.

    Raises:
        ValueError, TypeError, UnsupportedAlgorithm: the private key is none.
    """
    key = load_pem_private_key(account.private_key.encode(), None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("not an RSA key")
    return key


def assertion(account: ServiceAccount, key: RSAPrivateKey, now: int) -> str:
    """The signed claim that asks for a token; `now` is Unix time."""
    header = {"alg": "RS256", "typ": "JWT", **({"kid": account.key_id} if account.key_id else {})}
    claims = {
        "iss": account.email,
        "scope": SCOPE,
        "aud": account.token_uri,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
    }
    signed = f"{_encoded(header)}.{_encoded(claims)}"
    return f"{signed}.{_base64(key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def _encoded(part: Mapping[str, object]) -> str:
    return _base64(json.dumps(part, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class _Token:
    header: tuple[str, str]
    expires: float


class Tokens:
    """The tokens of one account, for one event loop. Only one is asked for at a time."""

    def __init__(
        self,
        account: ServiceAccount,
        client: Client,
        wall: Callable[[], float],
        tell: Callable[[str], None],
    ) -> None:
        self._tell = tell
        self._account = account
        self._client = client
        self._wall = wall
        self._key: RSAPrivateKey | None = None
        self._token: _Token | None = None
        self._renewing: asyncio.Task[_Token] | None = None

    def header(self) -> tuple[str, str] | None:
        """The header that carries a good token; None if there is none at hand."""
        token = self._token
        if token is None:
            return None
        left = token.expires - self._wall()
        if left < EARLY_SECONDS:
            self.renew()
        return token.header if left > SPARE_SECONDS else None

    def refused(self, header: tuple[str, str]) -> None:
        """A token was not taken: it is not sent again."""
        if self._token is not None and self._token.header == header:
            self._token = None

    def renew(self) -> "asyncio.Task[_Token]":
        """The request for a token that is under way, or a new one."""
        if self._renewing is None:
            self._renewing = asyncio.get_running_loop().create_task(self._ask())
            self._renewing.add_done_callback(self._asked)
        return self._renewing

    async def aclose(self) -> None:
        """Ask no more."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)

    def _asked(self, task: "asyncio.Task[_Token]") -> None:
        self._renewing = None
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._token = task.result()
        else:
            self._tell(str(error))

    async def _ask(self) -> _Token:
        now = self._wall()
        try:
            if self._key is None:
                self._key = signing_key(self._account)
            claim = assertion(self._account, self._key, int(now))
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise TokenRefused(401, "the service account's private key cannot be read") from None
        call = Call(
            method="POST",
            url=self._account.token_uri,
            headers=_FORM,
            body=urlencode({"grant_type": GRANT, "assertion": claim}).encode(),
            limit=_LIMIT,
        )
        try:
            async with asyncio.timeout(_DEADLINE_SECONDS):
                answer = await fetch(self._client, call)
        except TimeoutError:
            raise UpstreamError(
                ErrorKind.CONNECT_TIMEOUT, "no access token in time", before_answer=True
            ) from None
        except ValueError:
            raise TokenRefused(401, "the service account's token_uri is no address") from None
        return _read(answer.status, answer.body, now)


def _read(status: int, body: bytes, now: float) -> _Token:
    try:
        found = msgspec.json.decode(body)
    except msgspec.DecodeError:
        found = None
    fields: dict[str, Any] = found if isinstance(found, dict) else {}
    if status != 200:
        word = fields.get("error")
        said = f" ({word[:80]})" if isinstance(word, str) else ""
        told = f"the token endpoint answered {status}{said}"
        raise TokenRefused(503 if status >= 500 or status == 429 else 401, told)
    token, lasts = fields.get("access_token"), fields.get("expires_in", _ASSERTION_SECONDS)
    usable = isinstance(token, str) and token.isascii() and token.isprintable() and token
    if not usable or not isinstance(lasts, int | float):
        raise TokenRefused(502, "the token endpoint's answer holds no token")
    return _Token(("authorization", f"Bearer {token}"), now + lasts)


class TokenClient(Client):
    """Sends calls with the account's token."""

    def __init__(self, tokens: Tokens, client: Client) -> None:
        self._tokens = tokens
        self._client = client

    @override
    def send(self, call: Call, receiver: Receiver) -> Handle:
        """Start `call`, now or once there is a token."""
        header = self._tokens.header()
        if header is None:
            start = partial(self._start, call=call, receiver=receiver)
            return _Waiting(self._tokens.renew(), start, receiver)
        return self._start(header, call, receiver)

    def _start(self, header: tuple[str, str], call: Call, receiver: Receiver) -> Handle:
        call = msgspec.structs.replace(call, headers=(*call.headers, header))
        return self._client.send(call, _Watching(receiver, lambda: self._tokens.refused(header)))


class _Watching:
    """Passes everything on, and notices an answer that refuses the token."""

    __slots__ = ("_receiver", "_refused", "data", "end", "failed")

    def __init__(self, receiver: Receiver, refused: Callable[[], None]) -> None:
        self._receiver = receiver
        self._refused = refused
        # No step in between: these are called for every piece of an answer.
        self.data = receiver.data
        self.end = receiver.end
        self.failed = receiver.failed

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """The status line and headers arrived."""
        if status == 401:
            self._refused()
        self._receiver.head(status, headers)


class _Waiting(Handle):
    """A call that waits for its token."""

    def __init__(
        self,
        token: "asyncio.Task[_Token]",
        start: Callable[[tuple[str, str]], Handle],
        receiver: Receiver,
    ) -> None:
        self._start = start
        self._receiver = receiver
        self._started: Handle | None = None
        self._cancelled = False
        self._paused = False
        token.add_done_callback(self._go_on)

    @override
    def cancel(self) -> None:
        """Close the connection at once, or never open one."""
        self._cancelled = True
        if self._started is not None:
            self._started.cancel()

    @override
    def pause(self) -> None:
        """Stop reading."""
        self._paused = True
        if self._started is not None:
            self._started.pause()

    @override
    def resume(self) -> None:
        """Read on."""
        self._paused = False
        if self._started is not None:
            self._started.resume()

    def _go_on(self, token: "asyncio.Task[_Token]") -> None:
        if self._cancelled:
            return
        error = asyncio.CancelledError() if token.cancelled() else token.exception()
        if error is None:
            self._started = self._start(token.result().header)
            if self._paused:
                self._started.pause()
        elif isinstance(error, UpstreamError):
            self._receiver.failed(error)
        elif isinstance(error, TokenRefused):
            self._refuse(error)
        else:
            told = "the request for an access token was given up"
            self._receiver.failed(UpstreamError(ErrorKind.CLOSED, told, before_answer=True))

    def _refuse(self, error: TokenRefused) -> None:
        """As the upstream itself would say it."""
        word = {401: "UNAUTHENTICATED", 503: "UNAVAILABLE"}.get(error.status, "INTERNAL")
        body = {"error": {"code": error.status, "message": str(error), "status": word}}
        self._receiver.head(error.status, {"content-type": "application/json"})
        self._receiver.data(json.dumps(body).encode())
        self._receiver.end()


class Credentials:
    """A client for each service account.

    Args:
        client: asks for tokens and sends the calls.
        wall: Unix time.
        tell: hears why a token could not be had.
    """

    def __init__(
        self,
        client: Client,
        wall: Callable[[], float],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._wall = wall
        self._tell = tell
        self._known: dict[ServiceAccount, tuple[Tokens, TokenClient]] = {}

    def client(self, account: ServiceAccount) -> Client:
        """The client whose calls carry this account's token."""
        known = self._known.get(account)
        if known is None:
            tokens = Tokens(account, self._client, self._wall, self._tell)
            known = self._known[account] = (tokens, TokenClient(tokens, self._client))
        return known[1]

    async def aclose(self) -> None:
        """Ask for no more tokens."""
        for tokens, _ in self._known.values():
            await tokens.aclose()
