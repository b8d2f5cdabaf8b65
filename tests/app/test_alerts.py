"""Alerts of a whole gateway: from a real request, or a real refusal, to mail and webhook."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from tests.app.books import Books
from tests.app.conftest import CONFIG, Start, until
from tests.mail_server import MailServer, mail_server
from zurelay.access.accounts import Budget
from zurelay.app.process import Process
from zurelay.app.webhooks import signed
from zurelay.store.alerts import Target, list_alerts, set_target
from zurelay.testing.chat import chat_reply, chat_usage
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import json_reply
from zurelay.testing.upstream import ScriptedUpstream

USED = 9 * 1000 + 3 * 5000  # what `chat_usage()` costs at `test-model`
SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


def told(url: str, port: int, hook: str) -> str:
    """Tables beside the providers of a configuration."""
    return (
        f'[storage]\nurl = "{url}"\n'
        f'[smtp]\nhost = "127.0.0.1"\nport = {port}\nsecurity = "none"\nsender = "ai@example.com"\n'
        f'[alerts]\nemails = ["ops@example.com"]\nwebhook = "{hook}"\nsecret = "{SECRET}"\n'
        "disk_percent = 100\nclock_s = 3600\n"
    )


async def looked(process: Process) -> None:
    """The look-out of half a minute, now, and what it has to send."""
    await until(lambda: process._housekeeping.leading)
    await process._watch.round()
    await process._post.round()


def kinds(gateway: RunningGateway) -> list[str]:
    with gateway.store.read() as connection:
        return [one.kind for one in list_alerts(connection, None, 0, limit=99)]


@pytest.mark.timeout(60)
async def test_a_request_that_spends_most_of_a_budget_is_told_by_mail_once(
    start: Start, upstream: ScriptedUpstream, store_url: str, server: MailServer
) -> None:
    config = CONFIG.format(upstream=upstream.base_url) + told(store_url, server.port, "")
    caller = await start(config)
    gateway, books = caller.gateway, Books(caller.gateway)
    with gateway.store.write() as connection:
        target = Target(books.account.id, ("ann@example.com",), None, None, 0)
        set_target(connection, target)
    await books.set_key(budget=Budget(USED * 10 // 8, "month"))
    upstream.enqueue(json_reply(chat_reply("Hello", usage=chat_usage())))
    assert (await caller.chat(max_completion_tokens=1)).status == 200
    await books.released()
    while books.ledger.unlogged():
        await asyncio.sleep(0.005)
    await looked(gateway.process)
    await looked(gateway.process)
    assert kinds(gateway) == ["budget"]
    ((to, mail),) = server.got
    assert to == ["ann@example.com"]
    assert mail["Subject"].startswith("80% of a budget is spent")
    assert "/console/billing/alerts" in mail.get_content()


@pytest.mark.timeout(60)
async def test_a_provider_that_refuses_our_credential_is_told_to_operators_at_once(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, server: MailServer
) -> None:
    hook = f"{second.base_url}/in"
    config = CONFIG.format(upstream=upstream.base_url) + told("", server.port, hook)
    caller = await start(config)
    process = caller.gateway.process
    upstream.enqueue(json_reply({"error": {"message": "no such key"}}, 401))
    second.enqueue(json_reply({}))
    assert (await caller.chat()).status >= 500
    await looked(process)
    await looked(process)
    assert kinds(caller.gateway) == ["credential_refused"]
    (got,) = second.requests
    assert got.json["type"] == "alert.raised"
    assert got.json["data"]["provider"] == "first"
    at, id_ = float(got.headers["webhook-timestamp"]), got.headers["webhook-id"]
    want = dict(signed(id_, got.body.decode(), SECRET, at))
    assert got.headers["webhook-signature"] == want["webhook-signature"]
    ((to, mail),) = server.got
    assert to == ["ops@example.com"]
    assert mail["Subject"] == "Alert: The provider first refuses our credential."
    scraped = await caller.send("GET", "/metrics")
    assert 'zurelay_alerts_open{kind="credential_refused"} 1.0' in scraped.body.decode()
    assert json.dumps(got.json).find("no such key") == -1  # nor a provider's own words
