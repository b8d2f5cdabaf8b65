"""Members in the console: invited by a link, given roles, removed."""

import re
from collections.abc import Callable

from tests.console.people import OWNER, Person
from zurelay.office.accounts import NewAccount, create_account, get_account
from zurelay.office.desk import Desk
from zurelay.office.members import MemberView, NewMember, add, list_members
from zurelay.office.pages import Page
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/members"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


def known(gateway: RunningGateway, account: str = "default") -> dict[str, MemberView]:
    found = list_members(Desk(gateway.store), OWNER, account, Page(100)).data
    return {one.email: one for one in found}


async def test_somebody_is_invited_by_a_link_that_is_shown_once_and_lets_them_in(
    people: Of, gateway: RunningGateway
) -> None:
    admin = people("admin")
    form = {"email": "Ann@Example.com", "name": "Ann", "role": "read-only", "account": "default"}
    seen = await admin.post(HOME, form)
    assert seen.status == 201
    link = re.search(r'<code id="link-text">([^<]+)</code>', seen.text)
    assert link
    assert link.group(1).startswith(f"{gateway.base_url}/console/link/")
    assert known(gateway)["ann@example.com"].role == "read-only"
    assert link.group(1) not in (await admin.get(HOME)).text
    stranger = people("nobody")
    opened = await stranger.get(link.group(1).removeprefix(gateway.base_url))
    assert opened.status == 200
    assert "ann@example.com" in opened.text


async def test_what_is_wrong_with_an_invitation_stands_beside_its_field(
    people: Of, gateway: RunningGateway
) -> None:
    owner = people("owner")
    form = {"email": "x", "name": "Kept", "role": "member", "account": "default"}
    seen = await owner.post(HOME, form)
    assert (seen.status, "Write an e-mail address." in seen.text) == (400, True)
    assert 'value="Kept"' in seen.text
    seen = await owner.post(HOME, form | {"email": "owner@example.com"})
    assert (seen.status, "is a member already" in seen.text) == (400, True)


async def test_roles_change_links_are_made_anew_and_people_removed(
    people: Of, gateway: RunningGateway
) -> None:
    admin, member = people("admin"), people("member")
    account = get_account(Desk(gateway.store), OWNER, "default").id
    home = f"{HOME}/{account}/{known(gateway)['member@example.com'].id}"
    seen = await admin.post(f"{home}/role", {"role": "read-only"})
    assert "has another role" in seen.text
    assert known(gateway)["member@example.com"].role == "read-only"
    seen = await admin.post(f"{home}/link")
    assert (seen.status, "/console/link/" in seen.text) == (201, True)
    await admin.post(f"{home}/remove")
    assert "member@example.com" not in known(gateway)
    assert "/console/sign-in" in (await member.get("/console")).url


async def test_admins_neither_make_nor_unmake_those_who_run_the_gateway(
    people: Of, gateway: RunningGateway
) -> None:
    admin, owner = people("admin"), people("owner")
    await owner.get(HOME)
    account = get_account(Desk(gateway.store), OWNER, "default").id
    form = {"email": "eve@example.com", "name": "Eve", "role": "owner", "account": "default"}
    assert (await admin.post(HOME, form)).status == 403
    home = f"{HOME}/{account}/{known(gateway)['owner@example.com'].id}"
    assert (await admin.post(f"{home}/role", {"role": "member"})).status == 403
    assert (await admin.post(f"{home}/remove")).status == 403
    assert (await admin.post(f"{home}/link")).status == 403
    text = (await admin.get(HOME)).text
    assert 'value="owner"' not in text
    assert home not in text
    assert 'value="owner"' in (await owner.get(HOME)).text


async def test_a_member_sees_the_people_of_their_account_and_changes_none(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    other = create_account(desk, OWNER, NewAccount("other"))
    add(desk, OWNER, "other", NewMember("zoe@example.com", NASTY))
    member = people("member")
    text = (await member.get(HOME)).text
    assert "member@example.com" in text
    assert "Invite somebody" not in text
    assert (await member.get(f"{HOME}?account={other.id}")).status == 404
    seen = await people("owner").get(f"{HOME}?account={other.id}")
    assert "<script>alert" not in seen.text
    assert "&lt;script&gt;alert(1)" in seen.text


async def test_a_member_is_renamed_and_stays_signed_in(people: Of, gateway: RunningGateway) -> None:
    admin, member = people("admin"), people("member")
    account = get_account(Desk(gateway.store), OWNER, "default").id
    home = f"{HOME}/{account}/{known(gateway)['member@example.com'].id}"
    assert 'name="name" value="Member"' in (await admin.get(HOME)).text
    seen = await admin.post(f"{home}/role", {"name": "Mary", "role": "member"})
    assert "Saved." in seen.text
    assert "has another role" not in seen.text
    assert known(gateway)["member@example.com"].name == "Mary"
    assert (await member.send("GET", HOME)).status == 200
    for fields in ({"name": "", "role": "member"}, {"name": "Mary", "role": "god"}):
        seen = await admin.post(f"{home}/role", fields)
        assert 'class="toast bad"' in seen.text
    assert known(gateway)["member@example.com"].name == "Mary"


async def test_an_admin_makes_an_owner_a_member_elsewhere_without_a_link(
    people: Of, gateway: RunningGateway
) -> None:
    people("owner")
    other = create_account(Desk(gateway.store), OWNER, NewAccount("other"))
    form = {"email": "owner@example.com", "name": "Owner", "role": "member", "account": other.id}
    seen = await people("admin").post(HOME, form)
    assert seen.status == 200
    assert "Owner is a member now, and signs in as before." in seen.text
    assert "/console/link/" not in seen.text
    assert known(gateway, "other")["owner@example.com"].role == "member"
