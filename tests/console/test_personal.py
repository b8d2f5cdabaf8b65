"""Personal data in the console: given as a file, and erased after a second question."""

import json
from collections.abc import Callable

import pytest

from tests.console import history
from tests.console.people import OWNER, Person
from zurelay.meter.record import RequestRecord
from zurelay.office.accounts import get_account
from zurelay.office.desk import Desk
from zurelay.store.requests import get_request
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

HOME = "/console/settings/personal-data"
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


@pytest.fixture
def logged(gateway: RunningGateway) -> RequestRecord:
    """A request of an end user."""
    return history.logged(gateway.store, user="ann@example.org")


def user_of(gateway: RunningGateway, one: RequestRecord) -> str | None:
    with gateway.store.read() as connection:
        found = get_request(connection, one.id, None)
    assert found is not None
    return found.user


async def test_an_owner_gets_what_is_kept_of_an_end_user(people: Of, logged: RequestRecord) -> None:
    owner = people("owner")
    assert "End user" in (await owner.get(HOME)).text
    seen = await owner.post(f"{HOME}/export", {"account": "", "user": "ann@example.org"})
    assert seen.status == 200
    assert seen.headers["content-disposition"] == 'attachment; filename="personal-data.jsonl"'
    lines = [json.loads(line) for line in seen.text.splitlines()]
    assert [(one["kind"], one["data"]["id"]) for one in lines] == [("request", logged.id)]


async def test_an_account_s_file_has_its_people(people: Of, gateway: RunningGateway) -> None:
    owner = people("owner")
    account = get_account(Desk(gateway.store), OWNER, "default").id
    seen = await owner.post(f"{HOME}/export", {"account": account})
    assert '"owner@example.com"' in seen.text
    assert {"account", "member", "person"} <= {
        json.loads(line)["kind"] for line in seen.text.splitlines()
    }


async def test_erasing_is_asked_twice_with_the_name_written_by_hand(
    people: Of, gateway: RunningGateway, logged: RequestRecord
) -> None:
    owner = people("owner")
    form = {"account": "", "user": "ann@example.org"}
    seen = await owner.post(f"{HOME}/erase", form)
    assert (seen.status, "This cannot be undone." in seen.text) == (200, True)
    assert user_of(gateway, logged) == "ann@example.org"
    seen = await owner.post(f"{HOME}/erase", form | {"sure": "Ann"})
    assert (seen.status, "This is not the same name." in seen.text) == (400, True)
    assert user_of(gateway, logged) == "ann@example.org"
    seen = await owner.post(f"{HOME}/erase", form | {"sure": "ann@example.org"})
    assert (seen.status, "Names of keys" in seen.text) == (200, True)
    assert user_of(gateway, logged) is None


async def test_an_account_is_named_by_its_name(people: Of, gateway: RunningGateway) -> None:
    account = get_account(Desk(gateway.store), OWNER, "default").id
    form = {"account": account, "user": ""}
    seen = await people("owner").post(f"{HOME}/erase", form)
    assert "Its members can no longer sign in" in seen.text
    seen = await people("owner").post(f"{HOME}/erase", form | {"sure": account})
    assert seen.status == 400
    seen = await people("owner").post(f"{HOME}/erase", form | {"user": NASTY})
    assert seen.status == 200
    assert "<script>alert" not in seen.text
    assert "can no longer sign in" not in seen.text


@pytest.mark.parametrize("action", ["export", "erase"])
async def test_somebody_must_be_named(action: str, people: Of) -> None:
    seen = await people("owner").post(f"{HOME}/{action}", {"account": "", "user": ""})
    assert (seen.status, "Choose an account, or write an end user." in seen.text) == (400, True)
    seen = await people("owner").post(f"{HOME}/{action}", {"user": "x" * 257})
    assert (seen.status, "Write at most 256 characters." in seen.text) == (400, True)
    seen = await people("owner").post(f"{HOME}/{action}", {"account": "nothing"})
    assert seen.status == 404


async def test_nobody_but_an_owner_handles_personal_data(
    people: Of, gateway: RunningGateway, logged: RequestRecord
) -> None:
    for role in ("admin", "member", "read-only"):
        somebody = people(role)
        assert (await somebody.get(HOME)).status == 403
        form = {"user": "ann@example.org", "sure": "ann@example.org"}
        for action in ("export", "erase"):
            assert (await somebody.post(f"{HOME}/{action}", form)).status == 403
    assert user_of(gateway, logged) == "ann@example.org"
    assert HOME not in (await people("admin").get("/console/settings")).text
    assert HOME in (await people("owner").get("/console/settings")).text
