"""Signing in by a real OpenID Connect provider."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.console.oidc_provider import oidc_provider, says
from tests.console.people import OWNER, Person, Seen, person
from zurelay.office.desk import Desk
from zurelay.office.members import NewMember, add
from zurelay.testing.gateway import RunningGateway


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with oidc_provider() as found:
        yield found


def config(issuer: str, more: str = "") -> str:
    return (
        f'[oidc]\nissuer = "{issuer}"\nclient_id = "zurelay"\nclient_secret = "very-secret"\n'
        f'name = "Example login"\n{more}'
    )


@pytest.fixture
async def gateway(tmp_path: Path, issuer: str) -> AsyncIterator[RunningGateway]:
    async with RunningGateway(tmp_path, config(issuer)) as running:
        add(Desk(running.store), OWNER, "default", NewMember("member@example.com", "Invited"))
        yield running


async def went(somebody: Person, sub: str | None) -> str:
    """Where the provider sends them back to."""
    seen = await somebody.send("GET", "/console/oidc")
    assert seen.status == 303
    return await asyncio.to_thread(says, seen.headers["location"], sub)


async def came_back(somebody: Person, sub: str | None) -> Seen:
    return await somebody.get(await went(somebody, sub))


async def test_who_is_a_member_comes_in(gateway: RunningGateway) -> None:
    ann = person(gateway, "nobody")
    assert "Example login" in (await ann.get("/console/sign-in")).text
    seen = await came_back(ann, "ann")
    assert seen.url.endswith("/console")
    assert "Ann" in seen.text
    assert "zurelay_oidc" not in ann.cookies
    again = person(gateway, "nobody")
    assert (await came_back(again, "ann")).status == 200


@pytest.mark.parametrize(
    ("sub", "status"), [("eve", 403), ("bob", 400), ("none", 400), (None, 400)]
)
async def test_others_stay_outside(gateway: RunningGateway, sub: str | None, status: int) -> None:
    somebody = person(gateway, "nobody")
    seen = await came_back(somebody, sub)
    assert (seen.status, "Not signed in" in seen.text) == (status, True)
    assert "zurelay_session" not in somebody.cookies


async def test_an_unverified_address_counts_where_the_operator_says_so(
    tmp_path: Path, issuer: str
) -> None:
    text = config(issuer, "require_verified = false\n")
    async with RunningGateway(tmp_path, text) as gateway:
        add(Desk(gateway.store), OWNER, "default", NewMember("bob@example.com", "Bob"))
        assert (await came_back(person(gateway, "nobody"), "bob")).url.endswith("/console")


async def test_an_answer_is_good_only_in_the_browser_that_asked(gateway: RunningGateway) -> None:
    ann, eve = person(gateway, "nobody"), person(gateway, "nobody")
    answer = await went(ann, "ann")
    assert (await eve.get(answer)).status == 400
    await went(eve, "eve")
    assert (await eve.get(answer)).status == 400, "her own question does not help"
    assert (await ann.get(answer)).url.endswith("/console")
    assert (await ann.send("GET", answer)).status == 400, "it is good once"


async def test_the_question_binds_its_answer(gateway: RunningGateway) -> None:
    seen = await person(gateway, "nobody").send("GET", "/console/oidc")
    query = parse_qs(urlsplit(seen.headers["location"]).query)
    assert query["redirect_uri"] == [f"{gateway.base_url}/console/oidc/callback"]
    assert query["code_challenge_method"] == ["S256"]
    assert query["response_type"] == ["code"]
    values = [query[name][0] for name in ("state", "nonce", "code_challenge")]
    assert len(set(values)) == 3
    assert all(len(one) == 43 for one in values)
    assert "very-secret" not in seen.headers["location"]
    (cookie,) = [one for one in seen.cookies if one.startswith("zurelay_oidc")]
    assert "HttpOnly" in cookie
    assert "Max-Age=600" in cookie


async def test_a_provider_that_is_away_is_told_to_people_in_plain_words(
    gateway: RunningGateway,
) -> None:
    await gateway.reload(config("http://127.0.0.1:9"))
    seen = await person(gateway, "nobody").send("GET", "/console/oidc")
    assert seen.status == 502
    assert "Example login did not tell us who you are" in seen.text


async def test_without_a_provider_there_is_no_such_way(gateway: RunningGateway) -> None:
    await gateway.reload("")
    nobody = person(gateway, "nobody")
    assert "Example login" not in (await nobody.get("/console/sign-in")).text
    for path in ("/console/oidc", "/console/oidc/callback?code=x&state=y"):
        assert (await nobody.send("GET", path)).status == 404
