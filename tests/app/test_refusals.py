"""A client that asks for nonsense in a loop over the whole gateway."""

import asyncio
from pathlib import Path

from tests.app.conftest import Caller
from zurelay.api.refusals import EACH
from zurelay.store.engine import open_store
from zurelay.store.requests import Filter, list_requests
from zurelay.store.usage import usage_by
from zurelay.testing.gateway import RunningGateway
from zurelay.upstream.client import HttpClient

ASKED = 100


async def test_every_refusal_is_answered_and_counted_but_few_have_an_entry_of_their_own(
    tmp_path: Path,
) -> None:
    async with RunningGateway(tmp_path) as gateway, HttpClient() as client:
        caller = Caller(gateway, client)
        answers = await asyncio.gather(*(caller.chat(model="nonsense") for _ in range(ASKED)))
        assert {answer.status for answer in answers} == {404}
    store = open_store(tmp_path / "data")
    with store.read() as connection:
        rows = list_requests(connection, Filter(), ASKED)
        (usage,) = usage_by(connection, "key")
    store.close()
    assert (usage.requests, usage.errors) == (ASKED, ASKED)
    assert sum(row.count for row in rows) == ASKED
    assert EACH < len(rows) < ASKED / 2
