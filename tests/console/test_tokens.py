"""Admin tokens in the console: made by owners, shown once, revoked."""

import re
from collections.abc import Callable

import pytest

from tests.console.people import OWNER, Person, Seen
from zurelay.office.accounts import get_account
from zurelay.office.desk import Desk
from zurelay.office.tokens import NewToken, create_token, list_tokens
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/settings/tokens"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


def text_in(seen: Seen) -> str:
    found = re.search(r'<code id="token-text">(zka-[^<]+)</code>', seen.text)
    assert found
    return found.group(1)


async def status(somebody: Person, text: str, path: str = "/api/v1/accounts") -> int:
    """Of a call of the admin API with a token."""
    stranger = Person(somebody.gateway, {})
    return (await stranger.send("GET", path, b"", {"authorization": f"Bearer {text}"})).status


async def test_a_token_is_made_works_and_is_revoked(people: Of, gateway: RunningGateway) -> None:
    owner = people("owner")
    assert "No admin tokens yet" in (await owner.get(HOME)).text
    seen = await owner.post(HOME, {"name": "monitoring", "role": "read-only", "account": ""})
    assert seen.status == 201
    text = text_in(seen)
    assert await status(owner, text) == 200
    seen = await owner.get(HOME)
    assert "monitoring" in seen.text
    assert text not in seen.text
    (made,) = list_tokens(Desk(gateway.store), OWNER)
    assert (made.role, made.account) == ("read-only", None)
    seen = await owner.post(f"{HOME}/{made.id}/revoke")
    assert "monitoring is revoked." in seen.text
    assert await status(owner, text) == 401
    assert "monitoring</span>" not in (await owner.get(HOME)).text
    assert "monitoring</span>" in (await owner.get(f"{HOME}?show=all")).text


async def test_a_token_may_belong_to_one_account(people: Of, gateway: RunningGateway) -> None:
    account = get_account(Desk(gateway.store), OWNER, "default").id
    form = {"name": "team", "role": "member", "account": account}
    text = text_in(await people("owner").post(HOME, form))
    assert await status(people("owner"), text, f"/api/v1/accounts/{account}") == 200
    assert await status(people("owner"), text, "/api/v1/prices") == 403
    assert list_tokens(Desk(gateway.store), OWNER)[0].account == account


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "Write 1 to 200 characters"),
        ({"role": "member"}, "Choose the account"),
        ({"role": "admin", "account": "default"}, "Readers may be for one account or for all"),
        ({"role": "god"}, "Readers may be for one account or for all"),
    ],
)
async def test_a_fault_is_said_and_nothing_is_made(
    fields: dict[str, str], said: str, people: Of, gateway: RunningGateway
) -> None:
    seen = await people("owner").post(HOME, {"name": "kept", "role": "read-only"} | fields)
    assert seen.status == 400
    place = re.search(r'<p class="fault"[^>]*>([^<]*)', seen.text)
    assert place
    assert place.group(1).startswith(said)
    assert list_tokens(Desk(gateway.store), OWNER) == []


async def test_an_admin_sees_tokens_and_makes_none(people: Of, gateway: RunningGateway) -> None:
    made = create_token(Desk(gateway.store), OWNER, NewToken(NASTY)).details
    admin = people("admin")
    seen = await admin.get(HOME)
    assert "Owners make and revoke them." in seen.text
    assert "<script>alert" not in seen.text
    assert "&lt;script&gt;alert(1)" in seen.text
    assert "/revoke" not in seen.text
    assert (await admin.post(HOME, {"name": "x", "role": "owner"})).status == 403
    assert (await admin.post(f"{HOME}/{made.id}/revoke")).status == 403
    assert [one.state for one in list_tokens(Desk(gateway.store), OWNER)] == ["live"]
    assert HOME in (await admin.get("/console/settings")).text
