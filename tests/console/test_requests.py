import html
import json
import re
import time
from collections.abc import Callable

import pytest

from tests.console.history import requests as history
from tests.console.history import write
from tests.console.people import OWNER, Person
from zurelay.office import requests
from zurelay.office.accounts import AccountChange, change_account, list_accounts
from zurelay.office.desk import Desk
from zurelay.office.pages import Page
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient

People = Callable[[str], Person]


async def ask(gateway: RunningGateway, model: str = "sandbox/echo", **fields: object) -> str:
    """A request over the gateway; gives its id."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], **fields}
    call = Call(
        method="POST",
        url=f"{gateway.base_url}/v1/chat/completions",
        headers=tuple(gateway.headers.items()),
        body=json.dumps(body).encode(),
    )
    async with HttpClient() as client:
        answer = await client.fetch(call)
    return answer.headers["x-request-id"]


async def until_logged(owner: Person, id_: str) -> str:
    """The page of a request, once the log has it."""
    while True:
        seen = await owner.get(f"/console/requests/{id_}")
        if seen.status != 404:
            assert seen.status == 200
            return seen.text


def priced(usd: str, markup: str) -> str:
    """The configuration that lets every token of `sandbox/echo` cost so much a million."""
    price = f'price = {{ input = "{usd}", output = "{usd}" }}'
    return f'[models."sandbox/echo"]\nroutes = ["sandbox"]\nmarkup = "{markup}"\n{price}\n'


def charges_of(page: str) -> str:
    """The lines of the charge on a request's page."""
    return page.partition("Price per million")[2].partition("<tfoot>")[0]


async def test_an_empty_log_says_what_to_do(people: People) -> None:
    owner = people("owner")
    seen = await owner.get("/console/requests")
    assert "No requests yet" in seen.text


async def test_requests_are_listed_and_narrowed_down(people: People) -> None:
    owner = people("owner")
    first = await ask(owner.gateway, user="alice", metadata={"run": "7"})
    second = await ask(owner.gateway, "sandbox/error?status=503")
    await until_logged(owner, first)
    await until_logged(owner, second)
    for query, wanted, other in (
        ("user=alice", first, second),
        ("metadata=run%3D7", first, second),
        ("status=error", second, first),
        ("model=sandbox%2Fecho&hours=1", first, second),
    ):
        text = (await owner.get(f"/console/requests?{query}")).text
        assert wanted in text, query
        assert other not in text, query
    nothing = await owner.get("/console/requests?user=bob")
    assert "Nothing passes this filter" in nothing.text


async def test_an_id_leads_to_its_page(people: People) -> None:
    owner = people("owner")
    id_ = await ask(owner.gateway)
    await until_logged(owner, id_)
    seen = await owner.get(f"/console/requests?q={id_}")
    assert seen.url.endswith(f"/console/requests/{id_}")
    assert (await owner.get("/console/requests?q=nonsense")).status == 400


async def test_a_request_shows_its_tries_tokens_and_facts(people: People) -> None:
    owner = people("owner")
    id_ = await ask(owner.gateway, "sandbox/error?status=503", models=["sandbox/echo"])
    text = await until_logged(owner, id_)
    assert '<svg class="try bad"' in text
    assert '<svg class="try good"' in text
    assert "overloaded" in text
    assert "sandbox/echo" in text


@pytest.mark.parametrize(
    ("of_model", "of_account", "paid"), [("3", None, "$3.00"), ("3", "1.5", "$1.50")]
)
async def test_prices_beside_the_charge_are_those_callers_paid(
    people: People, of_model: str, of_account: str | None, paid: str
) -> None:
    owner, member = people("owner"), people("member")
    await owner.gateway.reload(priced("1", of_model))
    if of_account is not None:
        change_account(
            Desk(owner.gateway.store), OWNER, "default", AccountChange(markup=of_account)
        )
    before = ""
    while paid not in before:  # a change of an account is known a little later
        id_ = await ask(owner.gateway)
        await until_logged(owner, id_)
        before = charges_of((await member.get(f"/console/requests/{id_}")).text)
    assert before.count(paid) == 2
    assert "$1.00" not in before
    await owner.gateway.reload(priced("9", "9"))  # what was charged stays what it was
    change_account(Desk(owner.gateway.store), OWNER, "default", AccountChange(markup="7"))
    for somebody in (owner, member):
        assert charges_of((await somebody.get(f"/console/requests/{id_}")).text) == before


async def test_every_line_of_a_charge_is_shown_and_they_sum_to_it(people: People) -> None:
    owner = people("owner")
    price = """{ input = "2", cached_input = "0.5", output = "10", per_request = "0.001" }"""
    model = f'[models."sandbox/usage"]\nroutes = ["sandbox"]\nprice = {price}\n'
    await owner.gateway.reload(model)
    id_ = await ask(owner.gateway, "sandbox/usage?prompt=1000&cached=800&completion=50")
    text = await until_logged(owner, id_)
    lines = charges_of(text)
    for name, cost in (
        ("Input", "$0.0004"),
        ("Cached input", "$0.0004"),
        ("Output", "$0.0005"),
        ("Fee of a request", "$0.001"),
    ):
        row = lines.partition(f">{name}</td>")[2].partition("</tr>")[0]
        assert f">{cost}<" in row, name
    assert "$0.001 each" in lines
    assert "<strong>$0.0023</strong>" in text
    assert f'href="/console/billing/refund?request={id_}"' in text
    free = await until_logged(owner, await ask(owner.gateway))
    assert "/console/billing/refund" not in free
    assert (
        "/console/billing/refund"
        not in (await people("member").get(f"/console/requests/{id_}")).text
    )


async def test_a_chosen_model_is_explained_with_its_ranking(people: People) -> None:
    owner = people("owner")
    id_ = await ask(owner.gateway, "zurelay-auto", reasoning_effort="high")
    text = await until_logged(owner, id_)
    assert "Why this model" in text
    assert "sandbox/reasoning" in text
    assert "Expected cost" in text


@pytest.mark.parametrize("where", ["user", "metadata", "model"])
async def test_what_strangers_send_is_text(people: People, where: str) -> None:
    owner = people("owner")
    bad = "<script>alert(1)</script>"
    fields: dict[str, object] = {"user": bad} if where == "user" else {}
    if where == "metadata":
        fields = {"metadata": {bad: bad}}
    id_ = await ask(owner.gateway, bad if where == "model" else "sandbox/echo", **fields)
    text = await until_logged(owner, id_)
    listed = (await owner.get("/console/requests")).text
    assert bad not in text
    assert bad not in listed
    assert "&lt;script&gt;" in text


async def test_another_accounts_request_is_not_there(people: People) -> None:
    owner = people("owner")
    id_ = await ask(owner.gateway)
    await until_logged(owner, id_)
    assert (await owner.get("/console/requests/req_" + "0" * 32)).status == 404


async def test_a_search_that_found_nothing_so_far_can_go_on(
    people: People, gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "SCANNED", 50)
    account = list_accounts(Desk(gateway.store), OWNER, Page()).data[0].id
    write(gateway.store, history(time.time(), 120, account, ("key_1",)))
    member = people("member")
    seen = await member.get("/console/requests?user=nobody")
    assert "Nothing among the newest 50" in seen.text
    for _ in range(3):
        further = re.search(r'href="([^"]*cursor=[^"]*)"', seen.text)
        if further is None:
            break
        seen = await member.get(html.unescape(further.group(1)))
    assert "Nothing passes this filter" in seen.text
