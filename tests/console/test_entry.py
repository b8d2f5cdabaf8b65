"""The door: passwords, links, and what strangers try there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console.people import OWNER, PASSWORD, Person, person
from zurelay.console.entry import _next
from zurelay.console.throttle import TRIES
from zurelay.office.desk import Desk
from zurelay.office.links import first_link, member_link
from zurelay.office.members import NewMember, add
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]


@pytest.fixture
def ann(people: Of) -> Person:
    """Somebody with a password who is not signed in."""
    known = people("member")
    known.cookies.clear()
    known.token = ""
    return known


async def signs_in(somebody: Person, password: str = PASSWORD, **fields: str) -> int:
    await somebody.get("/console/sign-in")
    form = {"email": "member@example.com", "password": password} | fields
    seen = await somebody.post("/console/sign-in", form)
    return seen.status


async def test_one_comes_in_where_one_wanted_to(ann: Person) -> None:
    await ann.get("/console/sign-in?next=%2Fconsole%2Fkeys")
    form = {"email": "member@example.com", "password": PASSWORD, "next": "/console/keys"}
    seen = await ann.post("/console/sign-in", form)
    assert seen.url.endswith("/console/keys")
    assert "zurelay_form" not in ann.cookies
    seen = await ann.get("/console/sign-in")
    assert seen.url.endswith("/console"), "who is in needs no door"


async def test_signing_in_begins_a_new_session_whatever_cookie_there_was(ann: Person) -> None:
    planted = "A" * 43
    ann.cookies["zurelay_session"] = planted
    assert await signs_in(ann) == 200
    assert ann.cookies["zurelay_session"] != planted
    first = ann.cookies["zurelay_session"]
    ann.cookies.pop("zurelay_session")
    ann.token = ""
    await signs_in(ann)
    assert ann.cookies["zurelay_session"] != first


@pytest.mark.parametrize("email", ["member@example.com", "eve@example.com", "", "é", "a" * 500])
async def test_a_wrong_password_is_told_the_same_to_everybody(ann: Person, email: str) -> None:
    await ann.get("/console/sign-in")
    seen = await ann.post("/console/sign-in", {"email": email, "password": "wrong password"})
    assert seen.status == 401
    assert "Address and password do not match." in seen.text
    assert "wrong password" not in seen.text
    assert "zurelay_session" not in ann.cookies


async def test_after_some_tries_one_waits(ann: Person) -> None:
    for _ in range(TRIES["pair"]):
        assert await signs_in(ann, "wrong") == 401
    assert await signs_in(ann) == 429
    assert await signs_in(ann, email="other@example.com") == 401


async def test_the_door_wants_its_own_token(ann: Person) -> None:
    ann.token = "0" * 64
    seen = await ann.post("/console/sign-in", {"email": "member@example.com", "password": PASSWORD})
    assert seen.status == 403


@pytest.mark.parametrize(
    "goal",
    [
        "https://evil.example/console",
        "//evil.example/console",
        "/\\evil.example",
        "/console\\@evil.example",
        "/console//evil.example",
        "/console/../../evil",
        "javascript:alert(1)",
        "/consolex",
        "/v1/models",
        "/console/\r\nlocation: x",
        "\t/console",
        "http:/console",
        "",
    ],
)
def test_nobody_is_sent_elsewhere(goal: str) -> None:
    assert _next(goal) == "/console"


@pytest.mark.parametrize("goal", ["/console", "/console/keys?show=all", "/console/requests/req_1"])
def test_pages_of_the_console_are_gone_to(goal: str) -> None:
    assert _next(goal) == goal


async def test_signing_out_is_for_good(people: Of) -> None:
    owner = people("owner")
    old = dict(owner.cookies)
    await owner.get("/console/profile")
    seen = await owner.post("/console/sign-out")
    assert "You are signed out." in seen.text
    owner.cookies = old
    assert (await owner.send("GET", "/console")).status == 303


async def test_on_this_machine_the_first_link_is_one_click(gateway: RunningGateway) -> None:
    link = f"/console/link/{first_link(Desk(gateway.store))}"
    nobody = person(gateway, "nobody")
    seen = await nobody.get(link)
    assert seen.url.endswith("/console")
    assert "Set an e-mail address and a password" in seen.text
    again = await person(gateway, "nobody").get(link)
    assert (again.status, "This link no longer works" in again.text) == (404, True)


async def test_elsewhere_opening_a_link_asks_first(tmp_path: Path) -> None:
    config = '[server]\npublic_url = "https://ai.example.com"\n'
    async with RunningGateway(tmp_path, config) as gateway:
        link = f"/console/link/{first_link(Desk(gateway.store))}"
        nobody = person(gateway, "nobody")
        host = {"host": "ai.example.com"}
        for _ in range(2):  # whatever looks at it does not use it up
            seen = await nobody.send("GET", link, b"", host)
            assert seen.status == 200
            assert "zurelay_session" not in nobody.cookies
        head = await nobody.send("HEAD", link, b"", host)
        assert head.status == 200
        kind = {"content-type": "application/x-www-form-urlencoded"}
        assert (await nobody.send("POST", link, b"", host | kind)).status == 403
        body = f"token={nobody.token}".encode()
        seen = await nobody.send("POST", link, body, host | kind)
        assert (seen.status, seen.headers["location"]) == (303, "/console")
        assert "zurelay_session" in nobody.cookies


async def test_an_invitation_asks_for_name_and_password(gateway: RunningGateway) -> None:
    desk = Desk(gateway.store)
    add(desk, OWNER, "default", NewMember("bob@example.com", "<b>Bob</b>"))
    link = f"/console/link/{member_link(desk, OWNER, 'default', 'bob@example.com')[1]}"
    bob = person(gateway, "nobody")
    seen = await bob.get(link)
    assert "&lt;b&gt;Bob&lt;/b&gt;" in seen.text
    seen = await bob.post(link, {"name": "Bob", "password": PASSWORD, "again": "other"})
    assert (seen.status, "This is not the same password." in seen.text) == (400, True)
    seen = await bob.post(link, {"name": "Bob", "password": "short", "again": "short"})
    assert "Write at least 10 characters." in seen.text
    seen = await bob.post(link, {"name": "Bob", "password": PASSWORD, "again": PASSWORD})
    assert seen.url.endswith("/console")
    assert "Set an e-mail address and a password" not in seen.text
    assert (await person(gateway, "nobody").get(link)).status == 404


@pytest.mark.parametrize("text", ["x", "A" * 43, "%00", "..%2f..%2fetc", "%C3%A9"])
async def test_made_up_links_are_over(gateway: RunningGateway, text: str) -> None:
    assert (await person(gateway, "nobody").get(f"/console/link/{text}")).status == 404
