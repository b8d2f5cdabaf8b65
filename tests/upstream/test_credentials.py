"""Access tokens, from a token endpoint that checks each signature."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.upstream.recorder import Recorder, get
from tests.upstream.service_accounts import EMAIL, claims, key_file, token
from zurelay.providers.google import service_account
from zurelay.testing import Pause, Script, ScriptedUpstream, Stall, json_reply, reply
from zurelay.upstream.base import Client, ErrorKind
from zurelay.upstream.client import HttpClient
from zurelay.upstream.credentials import EARLY_SECONDS, SCOPE, SPARE_SECONDS, Credentials

TOLD: list[str] = []


class Clock:
    """Wall time that stands still."""

    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def endpoint() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as server:
        yield server


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=lambda _: reply(b"ok")) as server:
        yield server


@pytest.fixture
async def credentials(client: HttpClient, clock: Clock) -> AsyncIterator[Credentials]:
    found = Credentials(client, clock, TOLD.append)
    yield found
    await found.aclose()


@pytest.fixture
def caller(credentials: Credentials, endpoint: ScriptedUpstream) -> Client:
    return credentials.client(service_account(key_file(endpoint.base_url + "/token")))


async def ask(caller: Client, upstream: ScriptedUpstream) -> Recorder:
    recorder = Recorder()
    caller.send(get(upstream.base_url), recorder)
    await recorder.over()
    return recorder


def sent(upstream: ScriptedUpstream) -> list[str | None]:
    return [request.headers.get("authorization") for request in upstream.requests]


async def test_the_first_call_waits_for_a_token_and_the_next_ones_have_it(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream, clock: Clock
) -> None:
    endpoint.enqueue(token("ya29.one"))
    first, second = await ask(caller, upstream), await ask(caller, upstream)
    assert (first.body, second.body) == (b"ok", b"ok")
    assert sent(upstream) == ["Bearer ya29.one"] * 2
    (request,) = endpoint.requests
    assert (request.method, request.path) == ("POST", "/token")
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert claims(request) == {
        "iss": EMAIL,
        "scope": SCOPE,
        "aud": endpoint.base_url + "/token",
        "iat": clock.now,
        "exp": clock.now + 3600,
    }


async def test_many_calls_at_once_ask_for_one_token(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    gate = asyncio.Event()
    endpoint.enqueue([Pause(gate), *token()])
    recorders = [Recorder() for _ in range(20)]
    for recorder in recorders:
        caller.send(get(upstream.base_url), recorder)
    await endpoint.wait_requests()
    assert upstream.requests == []
    gate.set()
    for recorder in recorders:
        await recorder.over()
    assert len(endpoint.requests) == 1
    assert sent(upstream) == ["Bearer ya29.token"] * 20


async def test_a_token_is_renewed_while_it_is_still_good(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream, clock: Clock
) -> None:
    endpoint.enqueue(token("ya29.one", 3600), token("ya29.two", 3600))
    await ask(caller, upstream)
    clock.now += 3600 - EARLY_SECONDS + 1
    await ask(caller, upstream)
    assert sent(upstream)[-1] == "Bearer ya29.one"
    await endpoint.wait_requests(2)
    while True:
        await ask(caller, upstream)
        if sent(upstream)[-1] == "Bearer ya29.two":
            break
    assert len(endpoint.requests) == 2


async def test_a_token_near_its_end_is_not_sent(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream, clock: Clock
) -> None:
    endpoint.enqueue(token("ya29.one"), token("ya29.two"))
    await ask(caller, upstream)
    clock.now += 3600 - SPARE_SECONDS
    await ask(caller, upstream)
    assert sent(upstream) == ["Bearer ya29.one", "Bearer ya29.two"]


async def test_while_renewing_fails_the_old_token_serves(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream, clock: Clock
) -> None:
    endpoint.enqueue(token("ya29.one"), json_reply({"error": "internal"}, 500))
    await ask(caller, upstream)
    clock.now += 3600 - EARLY_SECONDS + 1
    await ask(caller, upstream)
    await endpoint.wait_requests(2)
    endpoint.enqueue(token("ya29.two"))
    assert (await ask(caller, upstream)).body == b"ok"
    assert set(sent(upstream)) <= {"Bearer ya29.one", "Bearer ya29.two"}


async def test_a_refused_token_is_not_sent_again(
    caller: Client, endpoint: ScriptedUpstream
) -> None:
    endpoint.enqueue(token("ya29.revoked"), token("ya29.good"))
    refusing = [json_reply({"error": {"status": "UNAUTHENTICATED"}}, 401), reply(b"ok")]
    async with ScriptedUpstream(*refusing) as upstream:
        assert (await ask(caller, upstream)).status == 401
        assert (await ask(caller, upstream)).status == 200
        assert sent(upstream) == ["Bearer ya29.revoked", "Bearer ya29.good"]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (json_reply({"error": "invalid_grant", "error_description": "x"}, 400), 401),
        (json_reply({"error": "unauthorized_client"}, 401), 401),
        (reply(b"<html>", 403), 401),
        (json_reply({"error": "internal_failure"}, 500), 503),
        (json_reply({"error": "rate"}, 429), 503),
        (reply(b"no json"), 502),
        (json_reply([1]), 502),
        (json_reply({"access_token": ""}), 502),
        (json_reply({"access_token": "a\r\nb"}), 502),
        (json_reply({"access_token": "a", "expires_in": "x"}), 502),
    ],
)
async def test_no_token_is_an_answer_that_refuses(
    caller: Client,
    upstream: ScriptedUpstream,
    endpoint: ScriptedUpstream,
    answer: Script,
    status: int,
) -> None:
    TOLD.clear()
    endpoint.enqueue(answer, token("ya29.later"))
    refused = await ask(caller, upstream)
    assert (refused.status, upstream.requests) == (status, [])
    assert b'"error"' in refused.body
    assert EMAIL.encode() not in refused.body
    assert len(TOLD) == 1
    assert TOLD[0].startswith("the token endpoint")
    assert (await ask(caller, upstream)).status == 200  # asked anew, not remembered


async def test_a_token_endpoint_that_cannot_be_reached_is_a_failed_connection(
    credentials: Credentials, upstream: ScriptedUpstream
) -> None:
    async with ScriptedUpstream() as gone:
        address = gone.base_url
    caller = credentials.client(service_account(key_file(address)))
    error = (await ask(caller, upstream)).error
    assert error is not None
    assert (error.kind, error.before_answer) == (ErrorKind.CONNECT, True)


async def test_a_key_that_is_none_is_a_refused_credential(
    credentials: Credentials, upstream: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    account = service_account(key_file(endpoint.base_url, private_key=broken))
    assert (await ask(credentials.client(account), upstream)).status == 401
    assert endpoint.requests == []


async def test_a_call_that_is_cancelled_while_it_waits_is_never_sent(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    gate = asyncio.Event()
    endpoint.enqueue([Pause(gate), *token()])
    cancelled, other = Recorder(), Recorder()
    handle = caller.send(get(upstream.base_url), cancelled)
    caller.send(get(upstream.base_url), other)
    await endpoint.wait_requests()
    handle.cancel()
    gate.set()
    await other.over()
    assert cancelled.heard == []
    assert len(upstream.requests) == 1


async def test_a_call_may_be_paused_and_cancelled_once_it_is_sent(
    caller: Client, endpoint: ScriptedUpstream
) -> None:
    endpoint.enqueue(token())
    async with ScriptedUpstream([Stall()]) as upstream:
        recorder = Recorder()
        handle = caller.send(get(upstream.base_url), recorder)
        handle.pause()
        await upstream.wait_requests()
        handle.resume()
        handle.pause()
        handle.cancel()
        await upstream.wait_closed()
    assert recorder.heard == []


async def test_a_call_that_is_paused_while_it_waits_stays_paused(
    caller: Client, upstream: ScriptedUpstream, endpoint: ScriptedUpstream
) -> None:
    endpoint.enqueue(token())
    paused = Recorder()
    handle = caller.send(get(upstream.base_url), paused)
    handle.pause()
    await upstream.wait_requests()
    for _ in range(3):
        await ask(caller, upstream)
    assert "end" not in paused.heard
    handle.resume()
    await paused.over()
    assert paused.body == b"ok"


async def test_closing_ends_the_wait(
    client: HttpClient, endpoint: ScriptedUpstream, upstream: ScriptedUpstream, clock: Clock
) -> None:
    endpoint.enqueue([Stall()])
    credentials = Credentials(client, clock)
    caller = credentials.client(service_account(key_file(endpoint.base_url)))
    recorder = Recorder()
    caller.send(get(upstream.base_url), recorder)
    await endpoint.wait_requests()
    await credentials.aclose()
    await recorder.over()
    assert recorder.error is not None
    assert recorder.error.kind is ErrorKind.CLOSED


async def test_each_account_has_its_own_tokens_and_keeps_them(
    credentials: Credentials, endpoint: ScriptedUpstream, upstream: ScriptedUpstream
) -> None:
    endpoint.enqueue(token("ya29.a"), token("ya29.b"))
    uri = endpoint.base_url
    accounts = [service_account(key_file(uri, client_email=name)) for name in ("a", "b", "a")]
    for account in accounts:
        await ask(credentials.client(account), upstream)
    assert sent(upstream) == ["Bearer ya29.a", "Bearer ya29.b", "Bearer ya29.a"]
