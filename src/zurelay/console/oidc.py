"""An OpenID Connect provider: where it sends people, and what its answer says of who came back.

Speaks the authorization code flow with PKCE. Everything that binds an answer to the browser that
asked is made from one secret in that browser's cookie. Knows no page and no person.
"""

import base64
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Meta, Struct

from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.reading import Response

T = TypeVar("T")

CALLBACK: Final = "/console/oidc/callback"
ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "EdDSA",
)
"""Signatures that only the provider can make; none that its clients could."""

LEEWAY_S: Final = 60
FRESH_S: Final = 3600.0
"""How long what the provider says of itself is believed."""

_MOST: Final = 1024 * 1024

_Url = Annotated[str, Meta(max_length=2000, pattern="^https?://")]


class OidcError(Exception):
    """Nobody is signed in; the reason is for the operator's log."""


@dataclass(frozen=True, slots=True)
class Provider:
    """As configured; see `[oidc]` in the settings."""

    issuer: str
    client_id: str
    client_secret: str
    name: str
    require_verified: bool = True


@dataclass(frozen=True, slots=True)
class Identity:
    """Who came back."""

    email: str
    name: str


class _Metadata(Struct):
    issuer: str
    authorization_endpoint: _Url
    token_endpoint: _Url
    jwks_uri: _Url
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _Tokens(Struct):
    id_token: Annotated[str, Meta(max_length=50_000)]


class OidcClient:
    """Asks one provider. Belongs to one event loop.

    Args:
        provider: as configured now; None where there is none.
        fetch: makes a call and gives the whole answer.
        wall: Unix time.
    """

    def __init__(
        self,
        provider: Callable[[], Provider | None],
        fetch: Callable[[Call], Awaitable[Response]],
        wall: Callable[[], float],
    ) -> None:
        self.provider = provider
        self._fetch = fetch
        self._wall = wall
        self._known: dict[str, tuple[float, _Metadata, dict[str, Any]]] = {}

    async def begin(self, provider: Provider, base_url: str, secret: str) -> str:
        """Where to send the browser that has `secret`. Raises OidcError."""
        metadata, _ = await self._metadata(provider)
        query = urlencode(
            {
                "response_type": "code",
                "client_id": provider.client_id,
                "redirect_uri": f"{base_url}{CALLBACK}",
                "scope": "openid email profile",
                "state": derived("state", secret),
                "nonce": derived("nonce", secret),
                "code_challenge": _challenge(secret),
                "code_challenge_method": "S256",
            }
        )
        joint = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        return f"{metadata.authorization_endpoint}{joint}{query}"

    async def finish(
        self, provider: Provider, base_url: str, secret: str, query: Mapping[str, str]
    ) -> Identity:
        """Who came back with `query`. Raises OidcError."""
        state = query.get("state", "").encode()
        if not secret or not hmac.compare_digest(state, derived("state", secret).encode()):
            raise OidcError("the answer belongs to no question of this browser")
        if "error" in query:
            raise OidcError(f"the provider says {query['error'][:100]!r}")
        if query.get("iss", provider.issuer).rstrip("/") != provider.issuer:
            raise OidcError("the answer is from another issuer")
        metadata, keys = await self._metadata(provider)
        tokens = await self._exchange(provider, metadata, base_url, secret, query.get("code", ""))
        try:
            claims = verified(tokens.id_token, keys, provider, metadata.issuer, self._wall())
        except UnknownKeyError:
            metadata, keys = await self._metadata(provider, anew=True)
            claims = verified(tokens.id_token, keys, provider, metadata.issuer, self._wall())
        if not hmac.compare_digest(str(claims.get("nonce", "")), derived("nonce", secret)):
            raise OidcError("the ID token answers another question")
        return identity(claims, require_verified=provider.require_verified)

    async def _exchange(
        self, provider: Provider, metadata: _Metadata, base_url: str, secret: str, code: str
    ) -> _Tokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{base_url}{CALLBACK}",
            "code_verifier": derived("verifier", secret),
        }
        headers = [("content-type", "application/x-www-form-urlencoded")]
        if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            pair = f"{quote(provider.client_id, safe='')}:{quote(provider.client_secret, safe='')}"
            shown = base64.b64encode(pair.encode()).decode()
            headers.append(("authorization", f"Basic {shown}"))
        else:
            form |= {"client_id": provider.client_id, "client_secret": provider.client_secret}
        body = urlencode(form).encode()
        call = Call("POST", metadata.token_endpoint, tuple(headers), body, limit=_MOST)
        return await self._asked(call, _Tokens)

    async def _metadata(
        self, provider: Provider, *, anew: bool = False
    ) -> tuple[_Metadata, dict[str, Any]]:
        """What the provider says of itself, and its keys."""
        known = self._known.get(provider.issuer)
        if known is not None and not anew and known[0] + FRESH_S > self._wall():
            return known[1], known[2]
        address = f"{provider.issuer}/.well-known/openid-configuration"
        metadata = await self._asked(_get(address), _Metadata)
        if metadata.issuer.rstrip("/") != provider.issuer:
            raise OidcError(f"the provider calls itself {metadata.issuer[:200]!r}")
        keys = await self._asked(_get(metadata.jwks_uri), dict[str, Any])
        self._known = {provider.issuer: (self._wall(), metadata, keys)}
        return metadata, keys

    async def _asked(self, call: Call, kind: type[T]) -> T:
        place = urlsplit(call.url).netloc
        try:
            answer = await self._fetch(call)
        except UpstreamError as error:
            raise OidcError(f"{place}: {error}") from error
        if answer.status != 200:
            raise OidcError(f"{place} answers {answer.status}")
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.MsgspecError as error:
            raise OidcError(f"{place}: {error}") from error


class UnknownKeyError(OidcError):
    """The provider signed with a key that was not known."""


def derived(what: str, secret: str) -> str:
    """A value that only whoever knows the secret can make, one for each use."""
    made = hmac.new(secret.encode(), what.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def verified(
    token: str, keys: Mapping[str, Any], provider: Provider, issuer: str, now: float
) -> dict[str, Any]:
    """The claims of an ID token, once its signature, issuer, audience and time are right.

    Raises:
        UnknownKeyError: it names a key that is not among `keys`.
        OidcError: it is not right.
    """
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError
    from joserfc.jwk import KeySet

    try:
        found = jwt.decode(token, KeySet.import_key_set(keys), algorithms=ALGORITHMS)  # type: ignore[arg-type]
        claims: dict[str, Any] = found.claims
        rules = jwt.JWTClaimsRegistry(
            now=int(now),
            leeway=LEEWAY_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": provider.client_id},
            exp={"essential": True},
            sub={"essential": True},
        )
        rules.validate(claims)
    except InvalidKeyIdError as error:
        raise UnknownKeyError(f"the ID token: {error}") from error
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise OidcError(f"the ID token: {error}") from error
    audience = claims["aud"]
    several = isinstance(audience, list) and len(audience) > 1
    if (several or "azp" in claims) and claims.get("azp") != provider.client_id:
        raise OidcError("the ID token is for another client")
    return claims


def identity(claims: Mapping[str, Any], *, require_verified: bool) -> Identity:
    """The person that claims speak of. Raises OidcError."""
    email, name = claims.get("email"), claims.get("name")
    if not isinstance(email, str) or "@" not in email or len(email) > 254:
        raise OidcError("the ID token has no address")
    if require_verified and claims.get("email_verified") is not True:
        raise OidcError("the provider does not say that it verified the address")
    shown = name.strip() if isinstance(name, str) else ""
    usable = shown and shown.isprintable() and len(shown) <= 200
    return Identity(email.lower(), shown if usable else email.partition("@")[0])


def _challenge(secret: str) -> str:
    made = hashlib.sha256(derived("verifier", secret).encode()).digest()
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def _get(url: str) -> Call:
    return Call("GET", url, (("accept", "application/json"),), b"", limit=_MOST)
