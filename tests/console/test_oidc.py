"""What an ID token must be, and what a provider says of itself."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from zurelay.console.oidc import (
    Identity,
    OidcClient,
    OidcError,
    Provider,
    UnknownKeyError,
    derived,
    identity,
    verified,
)
from zurelay.upstream.base import Call
from zurelay.upstream.reading import Response

ISSUER = "https://login.example.com"
PROVIDER = Provider(ISSUER, "zurelay", "secret", "Example")
NOW = 1_795_953_600
KEY = RSAKey.generate_key(2048, {"kid": "one"})
OTHER = RSAKey.generate_key(2048, {"kid": "two"})
KEYS: dict[str, Any] = dict(KeySet([KEY]).as_dict(private=False))
GOOD = {"iss": ISSUER, "aud": "zurelay", "sub": "1", "exp": NOW + 60, "iat": NOW}


def signed(claims: dict[str, Any], key: Any = KEY, **header: str) -> str:
    return jwt.encode({"alg": "RS256", "kid": "one"} | header, claims, key)


def test_a_good_token_gives_its_claims() -> None:
    assert verified(signed(GOOD), KEYS, PROVIDER, ISSUER, NOW)["sub"] == "1"
    several = GOOD | {"aud": ["zurelay", "other"], "azp": "zurelay"}
    assert verified(signed(several), KEYS, PROVIDER, ISSUER, NOW)["azp"] == "zurelay"
    assert verified(signed(GOOD | {"exp": NOW - 30}), KEYS, PROVIDER, ISSUER, NOW)


@pytest.mark.parametrize(
    "claims",
    [
        GOOD | {"iss": "https://evil.example"},
        GOOD | {"aud": "other"},
        GOOD | {"aud": ["other"]},
        GOOD | {"aud": ["zurelay", "other"]},
        GOOD | {"azp": "other"},
        GOOD | {"exp": NOW - 120},
        GOOD | {"nbf": NOW + 600},
        {name: value for name, value in GOOD.items() if name != "exp"},
        {name: value for name, value in GOOD.items() if name != "iss"},
        {name: value for name, value in GOOD.items() if name != "aud"},
        {name: value for name, value in GOOD.items() if name != "sub"},
    ],
)
def test_a_token_for_others_or_other_times_is_refused(claims: dict[str, Any]) -> None:
    with pytest.raises(OidcError):
        verified(signed(claims), KEYS, PROVIDER, ISSUER, NOW)


def test_only_the_providers_signature_counts() -> None:
    public = OctKey.import_key(json.dumps(KEYS))
    none = "eyJhbGciOiJub25lIn0." + signed(GOOD).split(".")[1] + "."
    for token in (
        signed(GOOD, OTHER),
        signed(GOOD)[:-6] + "AAAAAA",
        jwt.encode({"alg": "HS256", "kid": "one"}, GOOD, public),
        none,
        "nonsense",
        "",
    ):
        with pytest.raises(OidcError):
            verified(token, KEYS, PROVIDER, ISSUER, NOW)
    with pytest.raises(UnknownKeyError):
        verified(signed(GOOD, OTHER, kid="two"), KEYS, PROVIDER, ISSUER, NOW)


def test_other_kinds_of_keys_count_too() -> None:
    key = ECKey.generate_key("P-256", {"kid": "ec"})
    token = jwt.encode({"alg": "ES256", "kid": "ec"}, GOOD, key)
    keys = dict(KeySet([key]).as_dict(private=False))
    assert verified(token, keys, PROVIDER, ISSUER, NOW)["sub"] == "1"


def test_a_person_is_their_verified_address() -> None:
    claims = {"email": "Ann@Example.com", "email_verified": True, "name": " Ann "}
    assert identity(claims, require_verified=True) == Identity("ann@example.com", "Ann")
    assert identity(claims | {"name": "\0"}, require_verified=True).name == "Ann"
    for wrong in (
        {},
        claims | {"email_verified": False},
        claims | {"email_verified": "true"},
        {"email": "Ann@Example.com"},
        claims | {"email": "nothing"},
        claims | {"email": ["a@b"]},
        claims | {"email": "a@" + "b" * 300},
    ):
        with pytest.raises(OidcError):
            identity(wrong, require_verified=True)
    assert identity({"email": "a@b"}, require_verified=False).email == "a@b"


def test_each_use_of_a_secret_has_a_value_of_its_own() -> None:
    made = {derived(what, "secret") for what in ("state", "nonce", "verifier")}
    assert len(made) == 3
    assert derived("state", "secret") != derived("state", "other")


def provider_that(answers: dict[str, object]) -> Callable[[Call], Awaitable[Response]]:
    """Answers by the end of a call's path; bytes and a status, or JSON."""

    async def fetch(call: Call) -> Response:
        for end, answer in answers.items():
            if call.url.endswith(end):
                if isinstance(answer, int):
                    return Response(answer, {}, b"{}")
                body = answer(call) if callable(answer) else answer
                return Response(200, {}, json.dumps(body).encode())
        raise AssertionError(call.url)

    return fetch


METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize?tenant=1",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
    "token_endpoint_auth_methods_supported": ["client_secret_post"],
}


@pytest.mark.parametrize(
    "answers",
    [
        {"configuration": 500},
        {"configuration": METADATA | {"issuer": "https://evil.example"}, "keys": {}},
        {"configuration": METADATA | {"token_endpoint": "file:///etc/passwd"}, "keys": {}},
        {"configuration": {"issuer": ISSUER}},
        {"configuration": METADATA, "keys": []},
        {"configuration": METADATA, "keys": 404},
    ],
)
async def test_a_provider_that_makes_no_sense_signs_nobody_in(answers: dict[str, object]) -> None:
    client = OidcClient(lambda: PROVIDER, provider_that(answers), lambda: NOW)
    with pytest.raises(OidcError):
        await client.begin(PROVIDER, "http://h", "secret")


async def test_a_provider_that_changed_its_keys_is_asked_again() -> None:
    asked: list[str] = []
    keys = [KEYS, dict(KeySet([OTHER]).as_dict(private=False))]

    def tokens(call: Call) -> object:
        asked.append(call.body.decode())
        claims = GOOD | {
            "nonce": derived("nonce", "secret"),
            "email": "ann@example.com",
            "email_verified": True,
        }
        return {"id_token": signed(claims, OTHER, kid="two")}

    answers = {"configuration": METADATA, "/keys": lambda _: keys.pop(0), "/token": tokens}
    client = OidcClient(lambda: PROVIDER, provider_that(answers), lambda: float(NOW))
    goal = await client.begin(PROVIDER, "http://h", "secret")
    assert goal.startswith(f"{ISSUER}/authorize?tenant=1&response_type=code")
    query = {"state": derived("state", "secret"), "code": "c"}
    assert (await client.finish(PROVIDER, "http://h", "secret", query)).name == "ann"
    assert keys == []
    assert "client_secret=secret" in asked[0]
    assert f"code_verifier={derived('verifier', 'secret')}" in asked[0]
    for wrong in (
        {},
        query | {"state": "x"},
        query | {"error": "no"},
        query | {"iss": "https://x"},
    ):
        with pytest.raises(OidcError):
            await client.finish(PROVIDER, "http://h", "secret", wrong)
    with pytest.raises(OidcError):
        await client.finish(PROVIDER, "http://h", "", {"state": derived("state", "")})


@pytest.mark.parametrize("nonce", [None, "", derived("nonce", "another"), 5])
async def test_a_token_that_answers_another_question_signs_nobody_in(nonce: object) -> None:
    claims = GOOD | {"nonce": nonce, "email": "ann@example.com", "email_verified": True}
    answers: dict[str, object] = {
        "configuration": METADATA,
        "/keys": KEYS,
        "/token": {"id_token": signed(claims)},
    }
    client = OidcClient(lambda: PROVIDER, provider_that(answers), lambda: float(NOW))
    query = {"state": derived("state", "secret"), "code": "c"}
    with pytest.raises(OidcError, match="another question"):
        await client.finish(PROVIDER, "http://h", "secret", query)
