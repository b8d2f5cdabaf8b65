"""Stored messages in the console: opting in, reading, what is told where there are none."""

import asyncio
import html
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.console.people import OWNER, Person, person
from tests.console.test_requests import until_logged
from zurelay.access.keys import Key
from zurelay.office.audit import list_audit
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.pages import Page
from zurelay.store.content import find_content
from zurelay.store.keys import list_keys
from zurelay.store.sealing import Sealer
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.base import Call
from zurelay.upstream.client import HttpClient

SECRET = "content-key-of-thirty-two-letters"
EVIL = '<script>alert(1)</script> ![x](https://evil.example/?q=1) "><img src=x onerror=alert(1)>'
BODIES: dict[str, dict[str, object]] = {
    "/v1/chat/completions": {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": EVIL},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "look", "arguments": "{}"},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": f"the tool says {EVIL}"},
        ]
    },
    "/v1/messages": {"max_tokens": 99, "messages": [{"role": "user", "content": EVIL}]},
    "/v1/responses": {"input": EVIL},
}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    config = f'[log]\ncontent_key = "{SECRET}"\n'
    async with RunningGateway(tmp_path, config) as running:
        yield running


def keeper(gateway: RunningGateway, days: int | None = 7) -> str:
    """Opts in; gives the id of the key that calls show from now on."""
    desk = Desk(gateway.store, sealer=lambda: Sealer([SECRET]))
    made = create_key(desk, OWNER, NewKey("keeper", store_days=days))
    gateway.key = made.key
    return made.details.id


async def ask(gateway: RunningGateway, path: str = "/v1/chat/completions", **more: object) -> str:
    body = {"model": "sandbox/echo", **BODIES[path], **more}
    call = Call(
        method="POST",
        url=gateway.base_url + path,
        headers=tuple(gateway.headers.items()),
        body=json.dumps(body).encode(),
    )
    async with HttpClient() as client:
        answer = await client.fetch(call)
    return answer.headers["x-request-id"]


async def until_stored(gateway: RunningGateway, reader: Person, id_: str) -> None:
    await until_logged(reader, id_)
    found = None
    while found is None:
        await asyncio.sleep(0)  # the gateway that writes it lives in this loop
        with gateway.store.read() as connection:
            found = find_content(connection, id_)


def keys_of(gateway: RunningGateway) -> list[Key]:
    with gateway.store.read() as connection:
        return list_keys(connection)


def readings(gateway: RunningGateway) -> list[str]:
    found = list_audit(Desk(gateway.store), OWNER, Page(100))
    return [line.target for line in found.data if line.action == "content.read"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", BODIES)
async def test_a_member_reads_the_conversation_and_nothing_of_it_is_a_tag(
    gateway: RunningGateway, path: str, stream: bool
) -> None:
    member = person(gateway, "member")
    keeper(gateway)
    id_ = await ask(gateway, path, stream=stream)
    await until_stored(gateway, member, id_)
    text = (await member.get(f"/console/requests/{id_}")).text
    messages = text[text.index('id="messages"') :]
    assert messages.count(html.escape(EVIL, quote=False)[:30]) >= 2  # asked and echoed, at least
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "evil.example" in messages
    assert '<h3 class="who">User</h3>' in messages
    assert '<h3 class="who">Assistant</h3>' in messages
    if path == "/v1/chat/completions":
        assert "Be brief." in messages
        assert "<code>look</code>" in messages
        assert "the tool says" in messages
    assert readings(gateway) == []


async def test_a_request_that_nests_without_end_is_shown_as_it_came(
    gateway: RunningGateway,
) -> None:
    member = person(gateway, "member")
    keeper(gateway)
    nested = json.loads("[" * 900 + "]" * 900)
    for tools in (nested, [nested] * 40):
        id_ = await ask(gateway, tools=tools)
        await until_stored(gateway, member, id_)
        seen = await member.get(f"/console/requests/{id_}")
        assert seen.status == 200
        assert len(seen.text) < 1_000_000
    deep = b"[" * 5000 + b"]" * 5000
    call = Call(
        method="POST",
        url=f"{gateway.base_url}/v1/chat/completions",
        headers=tuple(gateway.headers.items()),
        body=deep,
    )
    async with HttpClient() as client:
        answer = await client.fetch(call)
    id_ = answer.headers["x-request-id"]
    await until_stored(gateway, member, id_)
    seen = await member.get(f"/console/requests/{id_}")
    assert seen.status == 200
    assert "[[[[[[" in seen.text


async def test_an_operator_asks_for_them_and_is_written_down(gateway: RunningGateway) -> None:
    owner = person(gateway, "owner")
    keeper(gateway)
    id_ = await ask(gateway)
    await until_stored(gateway, owner, id_)
    closed = (await owner.get(f"/console/requests/{id_}")).text
    assert "written into the audit log" in closed
    assert "evil.example" not in closed
    assert readings(gateway) == []
    opened = (await owner.get(f"/console/requests/{id_}?messages=show")).text
    assert "evil.example" in opened
    assert readings(gateway) == [id_]
    file = await owner.get(f"/console/requests/{id_}/messages.json")
    assert file.headers["content-disposition"] == f'attachment; filename="{id_}.json"'
    assert json.loads(file.text)["messages"][0]["pieces"][0]["text"] == "Be brief."
    assert readings(gateway) == [id_, id_]


async def test_of_a_long_conversation_the_page_has_the_end_and_the_file_all(
    gateway: RunningGateway,
) -> None:
    member = person(gateway, "member")
    keeper(gateway)
    said = [{"role": "user", "content": f"word {n}, {'x ' * 15_000}"} for n in range(120)]
    id_ = await ask(gateway, messages=said)
    await until_stored(gateway, member, id_)
    text = (await member.get(f"/console/requests/{id_}")).text
    assert "71 messages before these stand in the file." in text
    assert "word 70," not in text[: text.index("The request as it came")]
    assert "word 119," in text
    assert text.count("The rest of it stands in the file.") >= 49
    file = json.loads((await member.get(f"/console/requests/{id_}/messages.json")).text)
    assert len(file["messages"]) == 121
    assert file["messages"][0]["pieces"][0]["text"] == said[0]["content"]


async def test_whoever_may_only_look_does_not_see_messages(gateway: RunningGateway) -> None:
    reader = person(gateway, "read-only")
    keeper(gateway)
    id_ = await ask(gateway)
    await until_stored(gateway, reader, id_)
    text = (await reader.get(f"/console/requests/{id_}?messages=show")).text
    assert 'id="messages"' not in text
    assert "evil.example" not in text
    assert (await reader.get(f"/console/requests/{id_}/messages.json")).status == 403


async def test_the_page_says_why_there_are_none(gateway: RunningGateway) -> None:
    member = person(gateway, "member")
    keeper(gateway, None)
    off = await until_logged(member, await ask(gateway))
    assert "What is asked and answered with this key is not stored." in off
    key = keeper(gateway)
    id_ = await ask(gateway)
    await until_stored(gateway, member, id_)
    await gateway.reload('[log]\ncontent_key = "another-key-of-thirty-two-letters!"\n')
    unreadable = (await member.get(f"/console/requests/{id_}")).text
    assert "encrypted with a key that this gateway does not have" in unreadable
    await member.get(f"/console/keys/{key}")
    await member.post(f"/console/keys/{key}/forget")
    assert "There are none" in (await member.get(f"/console/requests/{id_}")).text


async def test_a_member_turns_it_on_and_off_and_deletes(gateway: RunningGateway) -> None:
    member = person(gateway, "member")
    form = (await member.get("/console/keys/new")).text
    assert "can then be read by all of the account" in form
    wrong = await member.post("/console/keys", {"name": "web", "store_days": "400"})
    assert (wrong.status, "Write 1 to 365 days" in wrong.text) == (400, True)
    made = await member.post("/console/keys", {"name": "web", "store_days": "30"})
    assert made.status == 201
    key = next(one for one in keys_of(gateway) if one.name == "web")
    assert key.store_days == 30
    assert "stores messages" in (await member.get("/console/keys")).text
    assert "stored for 30 days" in (await member.get(f"/console/keys/{key.id}")).text
    assert 'value="30"' in (await member.get(f"/console/keys/{key.id}/edit")).text
    await member.post(f"/console/keys/{key.id}", {"name": "web", "store_days": ""})
    assert next(one for one in keys_of(gateway) if one.name == "web").store_days is None
    assert "not stored" in (await member.get(f"/console/keys/{key.id}")).text


async def test_what_a_key_stored_is_counted_and_deleted(gateway: RunningGateway) -> None:
    member = person(gateway, "member")
    key = keeper(gateway)
    id_ = await ask(gateway)
    await until_stored(gateway, member, id_)
    assert "in 1 request" in (await member.get(f"/console/keys/{key}")).text
    seen = await member.post(f"/console/keys/{key}/forget")
    assert "The messages of 1 request are deleted." in seen.text
    with gateway.store.read() as connection:
        assert find_content(connection, id_) is None


async def test_without_a_key_to_encrypt_with_the_form_says_so(gateway: RunningGateway) -> None:
    await gateway.reload("")
    member, owner = person(gateway, "member"), person(gateway, "owner")
    for somebody, named in ((member, False), (owner, True)):
        text = (await somebody.get("/console/keys/new")).text
        assert "has set no key to encrypt them with" in text
        assert ("[log] content_key" in text) == named
        assert 'name="store_days"' not in text
    seen = await member.post("/console/keys", {"name": "web", "store_days": "3"})
    assert seen.status == 409


async def test_limits_that_may_not_grow_are_told_beside_their_field(
    gateway: RunningGateway,
) -> None:
    owner, member = person(gateway, "owner"), person(gateway, "member")
    await owner.post("/console/keys", {"name": "web", "account": "default", "rpm": "5"})
    key = next(one for one in keys_of(gateway) if one.name == "web")
    seen = await member.post(f"/console/keys/{key.id}", {"name": "web", "rpm": "50"})
    assert seen.status == 400
    assert "Only those who run the gateway may let a key do more" in seen.text
