"""The admin API with a console session."""

import json
from collections.abc import Callable

import pytest

from tests.console.people import Person
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

JSON = {"content-type": "application/json"}


async def made(somebody: Person, **headers: str) -> int:
    """Status of making a key."""
    body = json.dumps({"name": "by session"}).encode()
    given = JSON | {name.replace("_", "-"): value for name, value in headers.items()}
    return (await somebody.send("POST", "/api/v1/keys", body, given)).status


async def test_a_session_reads_what_its_person_may(people: Of) -> None:
    for role, status in (("owner", 200), ("member", 403), ("read-only", 403)):
        seen = await people(role).send("GET", "/api/v1/tokens")
        assert seen.status == status, role
        assert (await people(role).send("GET", "/api/v1/keys")).status == 200
    assert (await people("nobody").send("GET", "/api/v1/keys")).status == 401


async def test_a_change_wants_the_token_of_that_session(people: Of) -> None:
    member = people("member")
    await member.get("/console/profile")
    other = people("owner")
    await other.get("/console/profile")
    assert await made(member) == 403
    assert await made(member, x_csrf_token=other.token) == 403
    assert await made(member, x_csrf_token=member.token, sec_fetch_site="cross-site") == 403
    assert await made(member, x_csrf_token=member.token, sec_fetch_site="same-origin") == 201
    reader = people("read-only")
    await reader.get("/console/profile")
    assert await made(reader, x_csrf_token=reader.token) == 403


@pytest.mark.parametrize("host", ["evil.example", "192.168.1.9"])
async def test_elsewhere_a_session_is_worth_nothing(people: Of, host: str) -> None:
    seen = await people("owner").send("GET", "/api/v1/keys", b"", {"host": host})
    assert seen.status == 401


async def test_a_session_that_ended_is_worth_nothing(people: Of) -> None:
    owner = people("owner")
    kept = dict(owner.cookies)
    await owner.get("/console/profile")
    await owner.post("/console/sign-out")
    owner.cookies = kept
    assert (await owner.send("GET", "/api/v1/keys")).status == 401


async def test_the_data_plane_reads_no_cookies(people: Of, gateway: RunningGateway) -> None:
    assert (await people("owner").send("GET", "/v1/models")).status == 401


async def test_a_token_that_is_shown_counts_and_not_the_cookie(people: Of) -> None:
    seen = await people("owner").send(
        "GET", "/api/v1/keys", b"", {"authorization": "Bearer zka-nothing"}
    )
    assert seen.status == 401
