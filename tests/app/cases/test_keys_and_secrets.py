"""What leaked or went on working elsewhere: keys, secrets, prompts, limits, and a database away."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.app.books import ENDPOINTS, Books, post
from tests.app.conftest import Answer, Caller, Start
from tests.app.gateways import configuration
from tests.servers import PostgreSQL, postgresql_server
from zurelay.access.keys import Key, hash_key, last4, make_key
from zurelay.admin.application import ENDPOINTS as ENDPOINTS_OF_ADMIN
from zurelay.admin.openapi import document
from zurelay.store.accounts import list_accounts
from zurelay.store.engine import Store
from zurelay.store.keys import add_key, list_keys, revoke_key
from zurelay.store.requests import Filter, list_requests
from zurelay.store.terms import change_account, change_key
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Close, Reset, Script, Stall, json_reply, reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream
from zurelay.upstream.client import HttpClient

SECRET = "SECRET1234"
HOST = "proxy.internal.example"
PROMPT = "PROMPT-MARK"
OWN = "KEY-MARK"

SAID: Mapping[str, tuple[Script, int]] = {
    "a key": (
        json_reply(
            {"error": {"message": f"Incorrect API key provided: sk-proj-{SECRET}. See {HOST}"}}, 401
        ),
        502,
    ),
    "a page of a proxy": (
        reply(
            f"<html>Bad gateway at {HOST} for key={SECRET}</html>".encode(),
            500,
            {"content-type": "text/html"},
        ),
        502,
    ),
    "our own key in its own words": (
        json_reply({"error": {"message": f"SECRET-first is not known to {HOST}:8443"}}, 403),
        502,
    ),
}


def files(folder: Path) -> bytes:
    """Everything that lies in a data folder."""
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("name", SAID)
async def test_what_a_provider_says_of_the_operators_key_is_told_to_nobody(
    start: Start,
    upstream: ScriptedUpstream,
    capfd: pytest.CaptureFixture[str],
    name: str,
    stream: bool,
) -> None:
    caller = await start(configuration(upstream))
    script, status = SAID[name]
    seen = b""
    for path in ENDPOINTS:
        upstream.enqueue(script, script)
        answer = await post(caller, path, stream=stream)
        assert answer.status == status, answer.body  # never 401: the caller's key is good
        row = await caller.get(f"/v1/requests/{answer.headers['x-request-id']}")
        seen += answer.body + repr(answer.headers).encode() + row.body
    seen += (await caller.get("/metrics")).body
    out, err = capfd.readouterr()
    seen += out.encode() + err.encode()
    for secret in (SECRET, "SECRET-first", HOST):
        assert secret.encode() not in seen, name


async def test_an_address_that_refuses_connections_is_told_to_nobody(
    start: Start, upstream: ScriptedUpstream, capfd: pytest.CaptureFixture[str]
) -> None:
    text = configuration(upstream).replace(upstream.base_url, f"http://127.0.0.1:9/v1/{SECRET}")
    caller = await start(text)
    seen = b""
    for path in ENDPOINTS:
        answer = await post(caller, path)
        assert answer.status == 502, answer.body
        row = await caller.get(f"/v1/requests/{answer.headers['x-request-id']}")
        seen += answer.body + repr(answer.headers).encode() + row.body
    seen += (await caller.get("/metrics")).body
    out, err = capfd.readouterr()
    seen += out.encode() + err.encode()
    assert SECRET.encode() not in seen
    assert b"127.0.0.1:9" not in seen


def marked(path: str, **fields: Any) -> dict[str, Any]:
    """Fields that carry a prompt in every place where one can be."""
    if path == "/v1/responses":
        return {"input": f"{PROMPT} in", "instructions": PROMPT, **fields}
    if path == "/v1/messages":
        turns = [
            {"role": "user", "content": PROMPT},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": PROMPT}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": PROMPT}],
            },
        ]
        return {"messages": turns, "system": PROMPT, **fields}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": PROMPT},
    ]
    return {"messages": turns, **fields}


ECHO = f"Invalid content: '{PROMPT} and more of it'"
FATES: Mapping[str, Callable[[bool], Sequence[Script]]] = {
    "answered": lambda s: [
        sse_reply(chat_chunks(f"You said {PROMPT}"))
        if s
        else json_reply(chat_reply(f"You said {PROMPT}"))
    ],
    "refused": lambda _: [json_reply({"error": {"message": ECHO, "param": "messages"}}, 400)],
    "refused as a list": lambda _: [json_reply({"detail": [{"msg": ECHO, "loc": ["body"]}]}, 422)],
    "broken": lambda _: [json_reply({"error": {"message": ECHO}}, 500)],
    "unreadable": lambda _: [reply(f"<p>{ECHO}</p>".encode())],
    "cut": lambda _: [[*sse_reply(chat_chunks([PROMPT, " two", " three"]))[:3], Close()]],
    "an error in the stream": lambda _: [
        sse_reply([*chat_chunks([PROMPT])[:2], {"error": {"message": ECHO}}])
    ],
    "silent": lambda _: [[Stall()]],
    "reset": lambda _: [[Reset()]] * 3,
}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
async def test_nothing_of_a_prompt_is_kept_whatever_becomes_of_it(
    tmp_path: Path,
    upstream: ScriptedUpstream,
    capfd: pytest.CaptureFixture[str],
    stream: bool,
) -> None:
    text = configuration(upstream, routing="start_deadline_s = 1")
    async with RunningGateway(tmp_path, text) as gateway, HttpClient() as client:
        caller = Caller(gateway, client)
        headers = {"x-secret": OWN, "user-agent": "x", "cookie": f"a={OWN}", "x-api-key": OWN}
        for path in ENDPOINTS:
            for fate in FATES.values():
                upstream.enqueue(*fate(stream))
                await post(
                    caller,
                    path,
                    {**headers, "x-api-key": gateway.key},
                    **marked(path, stream=stream),
                )
                upstream._scripts.clear()
            # Refused here: by its key, by its shape, as no JSON.
            await post(caller, path, {**headers, "authorization": ""}, **marked(path))
            await post(caller, path, **marked(path, temperature=PROMPT, model=f"{PROMPT}-model"))
            await caller.send("POST", path, f'{{"x": "{PROMPT}'.encode(), gateway.headers)
        metrics = (await caller.get("/metrics")).body
        await Books(gateway).audit()
    out, err = capfd.readouterr()
    places = {
        "metrics": metrics,
        "output": out.encode() + err.encode(),
        "files": files(gateway.data),
    }
    for place, content in places.items():
        for mark in (PROMPT, OWN):
            at = content.find(mark.encode())
            assert at < 0, (place, content[max(0, at - 300) : at + 100])


async def test_a_burst_cannot_pass_a_token_limit_many_times_over(
    start: Start, upstream: ScriptedUpstream
) -> None:
    """Each answer uses 175 tokens; what is counted is set aside before, not looked up after."""
    caller = await start(configuration(upstream))
    books = Books(caller.gateway)
    upstream._answer = lambda _: json_reply(chat_reply(usage=chat_usage(75, 100)))
    for tpm, fields in ((100, {}), (1000, {}), (1000, {"max_completion_tokens": 175})):
        with caller.gateway.store.write() as connection:
            add_key(
                connection,
                a_key(
                    f"key_{tpm}_{len(fields)}",
                    list_accounts(connection)[0].id,
                    text := new(),
                    tpm=tpm,
                ),
            )
        await caller.gateway.process._parts.keys._ask()
        asked = len(upstream.requests)
        extra = {"authorization": f"Bearer {text}"}
        answers = await asyncio.gather(*(caller.chat(extra, **fields) for _ in range(20)))
        let_in = [answer for answer in answers if answer.status == 200]
        assert 1 <= len(let_in) == len(upstream.requests) - asked
        assert len(let_in) * 175 <= tpm + 175
        assert {answer.status for answer in answers} == {200, 429}
    await books.audit()


def new() -> str:
    return make_key(secrets.token_bytes(32))


def a_key(name: str, account: str, text: str, **terms: Any) -> Key:
    return Key(name, name, account, "", hash_key(text), last4(text), 0, **terms)


STOPS: Mapping[str, Callable[[Any, Key], None]] = {
    "revoked": lambda connection, key: _revoke(connection, key.id),
    "expired": lambda connection, key: change_key(connection, key.id, {"expires": 1}),
    "without budget": lambda connection, key: change_key(
        connection, key.id, {"budget": 0, "budget_period": "total"}
    ),
    "without models": lambda connection, key: change_key(connection, key.id, {"models": "[]"}),
}


def _revoke(connection: Any, key: str) -> None:
    revoke_key(connection, key, 1.0)


@pytest.fixture
async def nodes(
    tmp_path: Path, postgresql: PostgreSQL, upstream: ScriptedUpstream
) -> AsyncIterator[list[Caller]]:
    """Two gateways on one database, with nothing to hurry a change on."""
    upstream._answer = lambda _: json_reply(chat_reply())
    async with AsyncExitStack() as stack:
        url = stack.enter_context(postgresql.database())
        text = configuration(upstream) + f'[storage]\nurl = "{url}"\n'
        made = []
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            gateway = await stack.enter_async_context(RunningGateway(folder, text))
            client = await stack.enter_async_context(HttpClient())
            made.append(Caller(gateway, client))
        yield made


async def asked_with(caller: Caller, text: str) -> Answer:
    return await caller.chat({"authorization": f"Bearer {text}"})


async def test_keys_that_are_stopped_stop_on_every_node_within_a_second(
    nodes: list[Caller],
) -> None:
    store: Store = nodes[0].gateway.store
    texts = {name: new() for name in (*STOPS, "of a stopped account")}
    with store.write() as connection:
        account = list_accounts(connection)[0]
        for number, text in enumerate(texts.values()):
            add_key(connection, a_key(f"key_{number}", account.id, text))
    for caller in nodes:
        for text in texts.values():
            while (answer := await asked_with(caller, text)).status == 401:
                await asyncio.sleep(0.02)
            assert answer.status == 200
    with store.write() as connection:
        known = {key.hash: key for key in list_keys(connection)}
        for name, stop in STOPS.items():
            stop(connection, known[hash_key(texts[name])])
    await _all_refused(nodes, {name: texts[name] for name in STOPS})
    with store.write() as connection:
        change_account(connection, account.id, {"stopped": 1})
    await _all_refused(nodes, texts)


async def _all_refused(nodes: Sequence[Caller], texts: Mapping[str, str]) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while True:
        seen = {
            (number, name): (await asked_with(caller, text)).status
            for number, caller in enumerate(nodes)
            for name, text in texts.items()
        }
        if 200 not in seen.values():
            break
        assert loop.time() - begun < 5, seen  # a second, on a busy machine
        await asyncio.sleep(0.02)
    assert set(seen.values()) <= {401, 402, 403}


async def test_a_database_that_is_away_makes_no_key_invalid(
    tmp_path: Path, upstream: ScriptedUpstream
) -> None:
    upstream._answer = lambda _: json_reply(chat_reply())
    with postgresql_server() as server, server.database() as url:
        text = configuration(upstream) + f'[storage]\nurl = "{url}"\n'
        async with RunningGateway(tmp_path, text) as gateway, HttpClient() as client:
            caller = Caller(gateway, client)
            never_used = new()
            with gateway.store.write() as connection:
                account = list_accounts(connection)[0].id
                add_key(connection, a_key("key_2", account, never_used))
            while (await asked_with(caller, never_used)).status == 401:
                await asyncio.sleep(0.02)
            server.stop()
            answers = await asyncio.gather(
                *(caller.chat() for _ in range(5)),
                asked_with(caller, never_used),
                asked_with(caller, new()),
                asked_with(caller, "zk-garbage"),
            )
            *known, unknown, garbage = (answer.status for answer in answers)
            assert known == [200] * 6
            assert unknown in (401, 503)
            assert garbage == 401
            await asyncio.to_thread(server.start)
            loop = asyncio.get_running_loop()
            until = loop.time() + 10
            books = Books(gateway)
            while books.ledger.unlogged():
                assert loop.time() < until
                await asyncio.sleep(0.05)
            assert (await caller.chat()).status == 200
            with gateway.store.read() as connection:
                rows = list_requests(connection, Filter(), 100)
            ids = [row.id for row in rows]
            assert len(ids) == len(set(ids))
            asked = {answer.headers["x-request-id"] for answer in answers[:6]}
            assert asked <= set(ids)


async def test_ordinary_keys_open_no_admin_door(start: Start, upstream: ScriptedUpstream) -> None:
    caller = await start(configuration(upstream))
    gateway = caller.gateway
    own = list_of_keys(gateway)
    paths = document(ENDPOINTS_OF_ADMIN, "/api/v1")["paths"]
    doors = [
        (method.upper(), path)
        for path, methods in paths.items()
        for method in methods
        if method in {"get", "post", "put", "patch", "delete"} and not path.endswith("openapi.json")
    ]
    assert len(doors) > 20
    raise_it = json.dumps(
        {"budget_usd": "1000000000", "owner": "x", "role": "admin", "models": None, "rpm": None}
    ).encode()
    tricks = ("", "/", "/..;/", "%2e%2e/", "//")
    for method, path in doors:
        filled = path.replace("{", "").replace("}", "")
        if not filled.startswith("/api"):
            filled = f"/api/v1{filled}"
        for sent in (gateway.headers, {}, {"x-api-key": gateway.key}):
            answer = await caller.send(method, filled, raise_it if method != "GET" else b"", sent)
            assert answer.status in (401, 403, 404), (method, filled, answer.status)
    for trick in tricks:
        for path in (f"/api/v1/keys{trick}", f"//api/v1/keys{trick}", f"/API/v1/keys{trick}"):
            sent = {**gateway.headers, "x-http-method-override": "DELETE"}
            answer = await caller.send("POST", path, raise_it, sent)
            assert answer.status in (400, 401, 403, 404, 405), path
            assert b"zk-" not in answer.body
    assert list_of_keys(gateway) == own


def list_of_keys(gateway: RunningGateway) -> list[Any]:
    with gateway.store.read() as connection:
        keys = list_keys(connection)
    return [(key.id, key.budget, key.models, key.rpm, key.revoked, key.owner) for key in keys]
