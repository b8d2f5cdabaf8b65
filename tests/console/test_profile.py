"""What people choose for themselves."""

from collections.abc import Callable

import pytest

from tests.console.people import OWNER, PASSWORD, Person, person
from zurelay.console.profile import _back
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.links import first_link
from zurelay.office.members import NewMember, add
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

NEW = "another good password"


async def test_name_and_address_are_changed_and_one_signs_in_with_them(people: Of) -> None:
    member = people("member")
    seen = await member.post("/console/profile", {"name": "<i>Mia", "email": "Mia@Example.com"})
    assert "Saved." in seen.text
    assert "&lt;i&gt;Mia" in seen.text
    assert "<i>Mia" not in seen.text
    assert 'value="mia@example.com"' in seen.text
    assert "&lt;i&gt;Mia" in (await member.get("/console/members")).text.partition("<main")[2]


@pytest.mark.parametrize(
    ("name", "email", "said"),
    [
        ("", "m@example.com", "Write a name."),
        ("Mia", "nothing", "Write an address such as"),
        ("Mia", "owner@example.com", "Somebody else has that address."),
    ],
)
async def test_faults_stand_beside_their_fields(
    people: Of, name: str, email: str, said: str
) -> None:
    people("owner")
    seen = await people("member").post("/console/profile", {"name": name, "email": email})
    assert (seen.status, said in seen.text) == (400, True)


async def test_a_password_is_changed_with_the_old_one_and_ends_other_sessions(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    elsewhere = person(gateway, "nobody")
    await elsewhere.get("/console/sign-in")
    await elsewhere.post("/console/sign-in", {"email": "member@example.com", "password": PASSWORD})
    assert "Sign out everywhere else" in (await member.get("/console/profile")).text
    path = "/console/profile/password"
    for fields, said in (
        ({"old": "wrong", "new": NEW, "again": NEW}, "This is not your password."),
        ({"old": PASSWORD, "new": NEW, "again": "x"}, "This is not the same password."),
        ({"old": PASSWORD, "new": "short", "again": "short"}, "Write at least 10 characters."),
    ):
        seen = await member.post(path, fields)
        assert (seen.status, said in seen.text) == (400, True)
        assert NEW not in seen.text
    seen = await member.post(path, {"old": PASSWORD, "new": NEW, "again": NEW})
    assert "Your password is changed." in seen.text
    assert (await elsewhere.send("GET", "/console")).status == 303
    assert (await member.get("/console")).status == 200


async def test_a_session_is_told_by_its_browser(people: Of, gateway: RunningGateway) -> None:
    member = people("member")
    elsewhere = person(gateway, "nobody")
    await elsewhere.get("/console/sign-in")
    form = {"email": "member@example.com", "password": PASSWORD}
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    await elsewhere.post("/console/sign-in", form, user_agent=agent)
    assert "Firefox on Linux" in (await member.get("/console/profile")).text


async def test_other_sessions_are_ended(people: Of, gateway: RunningGateway) -> None:
    member = people("member")
    elsewhere = person(gateway, "nobody")
    await elsewhere.get("/console/sign-in")
    await elsewhere.post("/console/sign-in", {"email": "member@example.com", "password": PASSWORD})
    seen = await member.post("/console/profile/sessions")
    assert "You are signed out everywhere else." in seen.text
    assert (await elsewhere.send("GET", "/console")).status == 303


async def test_the_first_owner_sets_address_and_password(gateway: RunningGateway) -> None:
    owner = person(gateway, "nobody")
    await owner.get(f"/console/link/{first_link(Desk(gateway.store))}")
    seen = await owner.get("/console/profile")
    assert "owner@localhost" not in seen.text
    assert 'name="old"' not in seen.text
    await owner.post("/console/profile", {"name": "Olga", "email": "olga@example.com"})
    await owner.post("/console/profile/password", {"new": NEW, "again": NEW})
    again = person(gateway, "nobody")
    await again.get("/console/sign-in")
    seen = await again.post("/console/sign-in", {"email": "olga@example.com", "password": NEW})
    assert seen.url.endswith("/console")


async def test_the_first_owner_gives_address_and_password_in_one_form(
    gateway: RunningGateway,
) -> None:
    owner = person(gateway, "nobody")
    await owner.get(f"/console/link/{first_link(Desk(gateway.store))}")
    assert "/console/profile/password" not in (await owner.get("/console/profile")).text
    fields = {"name": "Olga", "email": "olga@example.com", "new": NEW, "again": "x"}
    seen = await owner.post("/console/profile", fields)
    assert (seen.status, "This is not the same password." in seen.text) == (400, True)
    assert 'value="olga@example.com"' in seen.text
    assert "so that you can sign in again" in (await owner.get("/console/keys")).text
    seen = await owner.post("/console/profile", fields | {"again": NEW})
    assert "Saved." in seen.text
    assert "/console/profile/password" in seen.text
    assert "so that you can sign in again" not in (await owner.get("/console/keys")).text
    again = person(gateway, "nobody")
    await again.get("/console/sign-in")
    seen = await again.post("/console/sign-in", {"email": "olga@example.com", "password": NEW})
    assert seen.url.endswith("/console")


async def test_a_password_alone_leaves_the_first_owner_reminded(gateway: RunningGateway) -> None:
    owner = person(gateway, "nobody")
    await owner.get(f"/console/link/{first_link(Desk(gateway.store))}")
    await owner.get("/console/profile")
    await owner.post("/console/profile/password", {"new": NEW, "again": NEW})
    assert "so that you can sign in again" in (await owner.get("/console/keys")).text


async def test_a_password_is_not_changed_beside_the_address_once_there_is_one(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    fields = {"name": "M", "email": "member@example.com", "new": NEW, "again": NEW}
    await member.post("/console/profile", fields)
    elsewhere = person(gateway, "nobody")
    await elsewhere.get("/console/sign-in")
    seen = await elsewhere.post(
        "/console/sign-in", {"email": "member@example.com", "password": NEW}
    )
    assert not seen.url.endswith("/console")


async def test_language_and_theme_stay(people: Of, gateway: RunningGateway) -> None:
    member = people("member")
    form = {"language": "fr", "back": "/console/keys?show=all"}
    seen = await member.post("/console/preferences", form)
    assert seen.url.endswith("/console/keys?show=all")
    assert '<html lang="fr"' in seen.text
    seen = await member.post("/console/preferences", {"theme": "dark", "language": "xx"})
    assert '<html lang="fr" data-theme="dark">' in seen.text
    elsewhere = person(gateway, "nobody")
    elsewhere.cookies["zurelay_session"] = member.cookies["zurelay_session"]
    assert '<html lang="fr"' in (await elsewhere.get("/console")).text


async def test_an_account_is_chosen_and_pages_show_it_alone(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    second = create_account(desk, OWNER, NewAccount("second team"))
    owner = people("owner")
    seen = await owner.post("/console/account", {"account": second.id, "back": "/console/keys"})
    assert "first key" not in seen.text
    seen = await owner.post("/console/account", {"account": "", "back": "/console/keys"})
    assert "first key" in seen.text
    member = people("member")
    seen = await member.post("/console/account", {"account": second.id, "back": "/console/keys"})
    assert "first key" in seen.text, "an account that is not theirs is not looked at"
    assert "second team" not in seen.text
    add(desk, OWNER, second.id, NewMember("member@example.com", "M"))


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/console/..//x", ""])
def test_the_way_back_leads_nowhere_else(path: str) -> None:
    class Visit:
        from zurelay.console.page import Form

        form = Form.of(back=path)

    assert _back(Visit()) == "/console"  # type: ignore[arg-type]
