"""The playground: questions take the path of every other request, under the console's own key."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.console.people import OWNER, Person, Seen
from zurelay.access.keys import CONSOLE_ID
from zurelay.office.desk import Desk
from zurelay.office.keys import KeyChange, change_key, list_keys
from zurelay.office.pages import Page
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]
ASK = "/console/playground/ask"


async def ask(somebody: Person, model: str, token: str | None = None, **more: Any) -> Seen:
    if not somebody.token:
        await somebody.get("/console/playground")
    body = {"model": model, "messages": [{"role": "user", "content": "Hello there"}]} | more
    headers = {
        "content-type": "application/json",
        "x-csrf-token": somebody.token if token is None else token,
        "user-agent": "Browser/1",
    }
    return await somebody.send("POST", ASK, json.dumps(body).encode(), headers)


async def logged(somebody: Person, id_: str) -> dict[str, Any]:
    """What the script is told of a request once it is in the log."""
    for _ in range(100):
        seen = await somebody.send("GET", f"/console/playground/requests/{id_}")
        found: dict[str, Any] = json.loads(seen.text)
        if found:
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("it never came into the log")


async def test_a_member_asks_and_gets_what_a_client_would(people: Of) -> None:
    member = people("member")
    seen = await ask(member, "sandbox/echo")
    assert seen.status == 200
    answer = json.loads(seen.text)
    assert "Hello there" in answer["choices"][0]["message"]["content"]
    assert seen.headers["x-zurelay-model"] == "sandbox/echo"
    assert seen.headers["x-request-id"].startswith("req_")
    assert seen.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in seen.headers


async def test_it_is_logged_and_billed_under_the_accounts_own_console_key(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    first = await ask(member, "sandbox/echo")
    second = await ask(people("owner"), "sandbox/echo")
    one = await logged(member, first.headers["x-request-id"])
    assert (one["status"], one["cost"], one["answered_by"]) == ("ok", "$0.00", "sandbox/echo")
    await logged(member, second.headers["x-request-id"])
    seen = await member.get(f"/console/requests/{second.headers['x-request-id']}")
    assert "Browser/1" in seen.text
    found = list_keys(Desk(gateway.store), OWNER, Page(9)).data
    made = [key for key in found if key.id.startswith(CONSOLE_ID)]
    assert len(made) == 1
    listed = await member.get("/console/keys")
    assert "of the console" in listed.text
    page = await member.get(f"/console/keys/{made[0].id}")
    assert "/rotate" not in page.text


async def test_streams_come_as_events_with_thinking_apart(people: Of) -> None:
    seen = await ask(people("member"), "sandbox/reasoning", stream=True, reasoning_effort="high")
    assert seen.headers["content-type"].startswith("text/event-stream")
    assert "reasoning_content" in seen.text
    assert seen.text.endswith("data: [DONE]\n\n")
    assert seen.headers["x-zurelay-reasoning-effort"] == "high"


@pytest.mark.parametrize(
    ("model", "status", "code"),
    [
        ("sandbox/error?status=400", 400, None),
        ("sandbox/rate-limit?retry_after=2", 429, "rate_limit_exceeded"),
        ("no-such-model", 404, "model_not_found"),
    ],
)
async def test_failures_are_told_as_to_any_client(
    people: Of, model: str, status: int, code: str | None
) -> None:
    seen = await ask(people("member"), model)
    assert seen.status == status
    error = json.loads(seen.text)["error"]
    assert code is None or error["code"] == code
    assert seen.headers["x-request-id"].startswith("req_")


async def test_limits_of_the_key_hold(people: Of, gateway: RunningGateway) -> None:
    member = people("member")
    await ask(member, "sandbox/echo")
    desk = Desk(gateway.store)
    (key,) = [one for one in list_keys(desk, OWNER, Page(9)).data if one.id.startswith(CONSOLE_ID)]
    change_key(desk, OWNER, key.id, KeyChange(models=["gpt-x"]))
    for _ in range(200):
        seen = await ask(member, "sandbox/echo")
        if seen.status != 200:
            break
        await asyncio.sleep(0.02)
    assert seen.status == 403
    assert json.loads(seen.text)["error"]["code"] == "model_not_allowed"


async def test_no_question_without_session_role_and_token(people: Of) -> None:
    member = people("member")
    assert (await ask(member, "sandbox/echo", token="0" * 64)).status == 403
    assert (await ask(people("read-only"), "sandbox/echo")).status == 403
    nobody = people("nobody")
    nobody.token = member.token
    assert (await ask(nobody, "sandbox/echo")).status in (303, 403)


async def test_v1_takes_no_cookie(people: Of) -> None:
    member = people("member")
    body = json.dumps({"model": "sandbox/echo", "messages": []}).encode()
    seen = await member.send("POST", "/v1/chat/completions", body)
    assert seen.status == 401


async def test_what_is_too_large_or_no_json_is_refused(people: Of) -> None:
    member = people("member")
    await member.get("/console/playground")
    headers = {"content-type": "application/json", "x-csrf-token": member.token}
    seen = await member.send("POST", ASK, b"{", headers)
    assert seen.status == 400
    assert json.loads(seen.text)["error"]["code"] == "invalid_json"
    form = headers | {"content-type": "application/x-www-form-urlencoded"}
    assert (await member.send("POST", ASK, b"a=b", form)).status == 415


async def test_the_page_knows_models_and_their_levels(people: Of) -> None:
    seen = await people("member").get("/console/playground?model=sandbox/lorem%3Ftokens=9")
    assert 'value="sandbox/lorem?tokens=9"' in seen.text
    assert 'value="sandbox/reasoning"' in seen.text
    assert 'data-levels="none minimal low medium high xhigh max" data-default="medium"' in seen.text
    strange = await people("member").get("/console/playground?model=%22%3E%3Cscript%3Ealert(1)")
    assert "<script>alert" not in strange.text
    assert "disabled" in (await people("read-only").get("/console/playground")).text
