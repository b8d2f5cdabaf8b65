import asyncio
import base64
import hashlib
import hmac
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from zurelay.app.webhooks import WebhookError, Webhooks, signed
from zurelay.upstream.addresses import is_public

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1_795_953_600.0


class Receiver:
    """Somebody's server: keeps what it gets, answers with each status in turn, then 204."""

    def __init__(self) -> None:
        self.statuses: list[str] = []
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.silent = False
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://hooks.example.com:{self.port}/in?a=1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.strip().split("\r\n")
        headers = {k.lower(): v for k, v in (one.split(": ", 1) for one in rest)}
        self.got.append((line, headers, await reader.readexactly(int(headers["content-length"]))))
        if self.silent:
            await reader.read()
        else:
            status = self.statuses.pop(0) if self.statuses else "204 No Content"
            writer.write(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n".encode())
        writer.close()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()


def leading_to(*addresses: str) -> Any:
    async def resolve(host: str, port: int) -> list[Any]:
        return [(socket.AF_INET, (address, port)) for address in addresses]

    return resolve


@asynccontextmanager
async def webhooks(receiver: Receiver, **options: Any) -> AsyncIterator[Webhooks]:
    """That take the receiver's address for a public one, at its port, unless told otherwise."""
    options = {
        "ports": (receiver.port,),
        "allowed": lambda address: address == "127.0.0.1",
        "resolve": leading_to("127.0.0.1"),
        **options,
    }
    made = Webhooks(**options)
    try:
        yield made
    finally:
        await made.aclose()


async def test_a_webhook_is_posted_with_a_signature_the_receiver_can_check(
    receiver: Receiver,
) -> None:
    body = '{"type":"budget","über":1}'
    async with webhooks(receiver) as hooks:
        await hooks.send("out_1", receiver.url, body, SECRET, NOW, inside=False)
    ((line, headers, got),) = receiver.got
    assert line == "POST /in?a=1 HTTP/1.1"
    assert headers["content-type"] == "application/json"
    assert got == body.encode()
    # As a receiver does it, from the scheme's own description.
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + got
    mine = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{mine}"
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("out_1", "1795953600")


def test_the_signature_is_that_of_the_schemes_own_example() -> None:
    # The example of the scheme's reference libraries (2026-11).
    headers = signed("msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}', SECRET, 1614265330)
    assert dict(headers)["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_that_is_plain_text_signs_too_and_none_signs_nothing() -> None:
    mine = base64.b64encode(hmac.new(b"plain", b"a.1.{}", hashlib.sha256).digest()).decode()
    assert dict(signed("a", "{}", "plain", 1))["webhook-signature"] == f"v1,{mine}"
    for odd in ("whsec_not base64", "whsec_ünglücklich"):
        assert "webhook-signature" in dict(signed("a", "{}", odd, 1))
    assert "webhook-signature" not in dict(signed("a", "{}", "", 1))


@pytest.mark.parametrize(
    ("status", "final"),
    [
        ("500 No", False),
        ("404 No", False),
        ("410 Gone", True),
        ("302 Found\r\nlocation: /x", False),
    ],
)
async def test_only_2xx_is_taken_and_redirects_are_not_followed(
    receiver: Receiver, status: str, final: bool
) -> None:
    receiver.statuses = [status]
    async with webhooks(receiver) as hooks:
        with pytest.raises(WebhookError, match=status[:3]) as found:
            await hooks.send("out_1", receiver.url, "{}", "", NOW, inside=False)
    assert found.value.final == final
    assert len(receiver.got) == 1


async def test_a_server_that_says_nothing_is_not_waited_for(receiver: Receiver) -> None:
    receiver.silent = True
    async with webhooks(receiver, seconds=0.2) as hooks:
        with pytest.raises(WebhookError, match="no answer"):
            await hooks.send("out_1", receiver.url, "{}", "", NOW, inside=False)


async def test_a_members_webhook_never_leads_inside(receiver: Receiver) -> None:
    for resolve in (leading_to("127.0.0.1"), leading_to("8.8.8.8", "127.0.0.1")):
        async with webhooks(receiver, allowed=is_public, resolve=resolve) as hooks:
            with pytest.raises(WebhookError, match="cannot be reached from here"):
                await hooks.send("out_1", receiver.url, "{}", "", NOW, inside=False)
    for host in ("127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:127.0.0.1]"):
        async with webhooks(receiver, allowed=is_public) as hooks:
            url = f"http://{host}:{receiver.port}/"
            with pytest.raises(WebhookError, match="cannot be reached from here"):
                await hooks.send("out_1", url, "{}", "", NOW, inside=False)
    assert receiver.got == []


async def test_names_inside_look_like_names_that_are_not(receiver: Receiver) -> None:
    told = set()
    for resolve in (leading_to("127.0.0.1"), None):
        async with webhooks(receiver, allowed=is_public, resolve=resolve) as hooks:
            with pytest.raises(WebhookError) as found:
                url = f"http://nothing.invalid:{receiver.port}/"
                await hooks.send("out_1", url, "{}", "", NOW, inside=False)
            told.add(str(found.value))
    assert len(told) == 1


@pytest.mark.parametrize(
    "url", ["ftp://a.nl/", "http://a.nl:8080/", "http://u:p@a.nl/", "a.nl", "http://" + "a" * 2001]
)
async def test_a_url_that_can_never_be_sent_to_is_given_up(receiver: Receiver, url: str) -> None:
    async with webhooks(receiver) as hooks:
        with pytest.raises(WebhookError) as found:
            await hooks.send("out_1", url, "{}", "", NOW, inside=False)
    assert found.value.final


async def test_the_operators_own_webhook_may_lead_anywhere(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with webhooks(receiver, ports=(), allowed=is_public) as hooks:
        url = f"http://127.0.0.1:{receiver.port}/"
        await hooks.send("out_1", url, "{}", "", NOW, inside=True)
    assert len(receiver.got) == 1
