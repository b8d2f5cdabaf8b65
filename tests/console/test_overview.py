"""The overview: what it sums, for whom, and what it says when there is nothing."""

import re
import time
from collections.abc import Callable

import msgspec
import pytest

from tests.console.history import requests, write
from tests.console.people import OWNER, Person
from zurelay.office.desk import Desk
from zurelay.office.keys import list_keys
from zurelay.office.pages import Page
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]


@pytest.fixture
def history(gateway: RunningGateway) -> RunningGateway:
    """A gateway with some requests behind it."""
    key = list_keys(Desk(gateway.store), OWNER, Page()).data[0]
    write(gateway.store, requests(time.time(), 300, key.account, (key.id,), days=6))
    return gateway


async def test_who_begins_is_told_what_to_do_next(people: Of, gateway: RunningGateway) -> None:
    seen = await people("member").get("/console")
    assert "No requests yet" in seen.text
    assert f"curl {gateway.base_url}/v1/chat/completions" in seen.text
    assert "$ZURELAY_API_KEY" in seen.text
    assert 'href="/console/keys/new"' in seen.text
    seen = await people("read-only").get("/console")
    assert 'href="/console/keys/new"' not in seen.text


@pytest.mark.parametrize("by", ["model", "key", "user", "account"])
async def test_it_sums_by_what_was_chosen(people: Of, history: RunningGateway, by: str) -> None:
    seen = await people("owner").get(f"/console?span=30d&by={by}&show=requests")
    wanted = {
        "model": "claude-opus-5-5",
        "key": "first key",
        "user": "build-bot",
        "account": "default",
    }
    assert wanted[by] in seen.text
    assert "<dd>300<" in re.sub(r"\s+", "", seen.text)


async def test_where_nothing_was_measured_no_empty_chart_stands(
    people: Of, gateway: RunningGateway
) -> None:
    key = list_keys(Desk(gateway.store), OWNER, Page()).data[0]
    whole = requests(time.time(), 5, key.account, (key.id,), days=6)
    write(gateway.store, (msgspec.structs.replace(one, first_token_ms=None) for one in whole))
    seen = await people("owner").get("/console")
    tokens, speed, errors = seen.text.split('<div class="grid three">')[1].split("</section>")[:3]
    assert "nothing to show of this time" in speed
    assert "<figure" not in speed
    assert "<figure" in tokens
    assert "<figure" in errors


async def test_members_are_not_asked_about_accounts(people: Of, history: RunningGateway) -> None:
    seen = await people("member").get("/console?by=account")
    assert "by=account" not in seen.text
    assert seen.status == 200


@pytest.mark.parametrize(
    "query", ["span=1y&by=x&show=y", "span=24h&show=errors", "span=90d&show=tokens", "by=%00"]
)
async def test_any_choice_gives_a_page(people: Of, history: RunningGateway, query: str) -> None:
    assert (await people("owner").get(f"/console?{query}")).status == 200


async def test_users_and_models_are_text_and_nothing_else(
    people: Of, gateway: RunningGateway
) -> None:
    key = list_keys(Desk(gateway.store), OWNER, Page()).data[0]
    (record,) = requests(time.time(), 1, key.account, (key.id,), days=0)
    record.user = record.model = record.answered_by = "<script>alert(1)</script>"
    write(gateway.store, iter([record]))
    for by in ("user", "model"):
        seen = await people("owner").get(f"/console?by={by}")
        assert "<script>alert" not in seen.text
        assert "&lt;script&gt;" in seen.text


async def test_a_longer_time_is_offered_where_this_one_has_nothing(
    people: Of, gateway: RunningGateway
) -> None:
    key = list_keys(Desk(gateway.store), OWNER, Page()).data[0]
    then = time.time() - 10 * 86_400
    write(gateway.store, requests(then, 3, key.account, (key.id,), days=0))
    seen = await people("owner").get("/console?span=7d")
    assert "Nothing in this time" in seen.text


async def test_where_nothing_costs_anything_requests_are_shown(
    people: Of, gateway: RunningGateway
) -> None:
    key, owner = list_keys(Desk(gateway.store), OWNER, Page()).data[0], people("owner")
    for cost, shown in ((0, "requests"), (5, "spend")):
        found = requests(time.time(), 3, key.account, (key.id,), days=0.1, seed=cost)
        write(gateway.store, (msgspec.structs.replace(one, cost=cost) for one in found))
        text = (await owner.get("/console")).text
        assert re.search(f'show={shown}" aria-current="true"', text)
