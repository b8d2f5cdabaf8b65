"""Where a caller with little money sets no limit, one is made, and each upstream is sent it."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.app.books import PREPAID, Books, post
from tests.app.conftest import Start
from tests.formats.anthropic import made
from zurelay.providers.registry import KINDS
from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import json_reply, sse_reply
from zurelay.testing.upstream import ScriptedUpstream

FACTS = 'context = 100000\nmax_output = 50000\nprice = { input = "1.00", output = "5.00" }\n'
LEFT_OUT = ("vertex", "sandbox")
SPECIAL: Mapping[str, str] = {
    "bedrock": 'region = "eu-central-1"\naccess_key_id = "AK"\nsecret_access_key = "S"\n',
}
NAMES = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens")
"""What upstreams call the limit."""


def limits(sent: Any) -> list[int]:
    """Every token limit in a body, wherever it stands."""
    if not isinstance(sent, dict):
        return []
    own = [value for name, value in sent.items() if name in NAMES]
    return own + [limit for value in sent.values() for limit in limits(value)]


def config(upstream: ScriptedUpstream, kinds: list[str], facts: str = FACTS) -> str:
    text = "[sandbox]\nenabled = false\n" + PREPAID
    for kind in kinds:
        key = SPECIAL.get(kind, 'api_key = "k"\n')
        text += (
            f'[providers.p-{kind}]\nkind = "{kind}"\nbase_url = "{upstream.base_url}"\n{key}'
            f'catalogue = false\n[models."m-{kind}"]\nroutes = ["p-{kind}"]\n{facts}'
        )
    return text


async def test_every_kind_of_upstream_is_sent_a_limit_that_the_money_pays_for(
    start: Start, upstream: ScriptedUpstream
) -> None:
    kinds = [kind for kind in KINDS if kind not in LEFT_OUT]
    caller = await start(config(upstream, kinds))
    books = Books(caller.gateway)
    books.pay_in(10**8)  # ten cents; a quarter of it pays for 5000 tokens of output
    upstream._answer = lambda _: json_reply({"error": {"message": "no"}}, 400)
    upstream.requests.clear()
    for kind in kinds:
        for path in ("/v1/chat/completions", "/v1/responses"):
            for stream in (False, True):
                told = f"{kind} by {path}"
                answer = await post(caller, path, model=f"m-{kind}", stream=stream)
                assert answer.status == 400, (told, answer.body)
                (sent,) = limits(upstream.requests[-1].json)
                assert 4900 < sent <= 5000, told
                assert "x-zurelay-dropped-params" not in answer.headers, told
    assert len(upstream.requests) == 4 * len(kinds)
    assert len(await books.audit()) == 4 * len(kinds)


@pytest.mark.parametrize("effort", ["none", "low", "high", "max"])
async def test_a_limit_leaves_room_for_the_thinking_that_was_asked_for(
    start: Start, upstream: ScriptedUpstream, effort: str
) -> None:
    levels = 'reasoning = { levels = ["none", "low", "high", "max"] }\n'
    kinds = ["groq", "anthropic", "gemini"]
    caller = await start(config(upstream, kinds, FACTS + levels))
    books = Books(caller.gateway)
    least = {"none": 1024, "low": 4096, "high": 16_384, "max": 50_000}[effort]
    upstream._answer = lambda _: json_reply({"error": {"message": "no"}}, 400)
    books.pay_in(least * 5000 + 100_000)  # the floor, and a little for the prompt
    for kind in kinds:
        answer = await post(
            caller, "/v1/chat/completions", model=f"m-{kind}", reasoning_effort=effort
        )
        assert answer.status == 400, answer.body
        (sent,) = limits(upstream.requests[-1].json)
        assert sent == least, kind


async def test_a_limit_fits_into_what_a_long_prompt_leaves_of_the_window(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(config(upstream, ["anthropic"]))
    books = Books(caller.gateway)
    books.pay_in(10**12)
    upstream.enqueue(json_reply({"error": {"message": "no"}}, 400))
    turns = [{"role": "user", "content": "word " * 60_000}]
    await caller.chat(model="m-anthropic", messages=turns)
    row = (await books.audit())[-1]
    (sent,) = limits(upstream.requests[-1].json)
    assert 1024 <= sent < 50_000
    assert row.http_status == 400


async def test_an_operators_estimate_is_the_limit(start: Start, upstream: ScriptedUpstream) -> None:
    text = config(upstream, ["groq"]).replace(PREPAID, PREPAID + "output_estimate = 700\n")
    caller = await start(text)
    books = Books(caller.gateway)
    books.pay_in(10**12)
    upstream.enqueue(json_reply(chat_reply()), json_reply(chat_reply()))
    await caller.chat(model="m-groq")
    await caller.chat(model="m-groq", max_completion_tokens=9000)
    assert [limits(request.json) for request in upstream.requests] == [[700], [9000]]


async def test_who_has_no_limit_is_sent_none(start: Start, upstream: ScriptedUpstream) -> None:
    caller = await start(config(upstream, ["groq"]).replace(PREPAID, ""))
    upstream.enqueue(json_reply(chat_reply()))
    await caller.chat(model="m-groq")
    assert limits(upstream.requests[-1].json) == []


async def test_a_limit_is_made_anew_for_each_candidate(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    dear = (
        f'[providers.dear]\nkind = "anthropic"\nbase_url = "{second.base_url}"\napi_key = "k"\n'
        'catalogue = false\n[models."dear"]\nroutes = ["dear"]\ncontext = 100000\n'
        'price = { input = "1.00", output = "20.00" }\n'
    )
    caller = await start(config(upstream, ["groq"]) + dear)
    books = Books(caller.gateway)
    books.pay_in(10**9)
    upstream.enqueue(json_reply({"error": {"message": "no"}}, 500))
    answer: list[Any] = [made.start(), made.text(0, "Hi"), made.stop()]
    second.enqueue(sse_reply(answer)[:-1])
    await caller.chat(model="m-groq", models=["dear"], stream=True)
    assert 49_000 < limits(upstream.requests[-1].json)[0] <= 50_000
    assert 12_400 < limits(second.requests[-1].json)[0] <= 12_500


@pytest.mark.parametrize("stream", [False, True])
async def test_a_count_far_beyond_the_limit_that_was_sent_is_not_believed(
    start: Start, upstream: ScriptedUpstream, stream: bool
) -> None:
    caller = await start(config(upstream, ["groq"]))
    books = Books(caller.gateway)
    books.pay_in(10**8)
    usage = chat_usage(9, 40_000)
    upstream.enqueue(
        sse_reply(chat_chunks("Hello there", usage=usage))
        if stream
        else json_reply(chat_reply("Hello there", usage=usage))
    )
    answer = await caller.chat(
        model="m-groq", stream=stream, stream_options={"include_usage": True} if stream else None
    )
    row = (await books.audit())[-1]
    assert (row.implausible, row.cost_estimated) == (True, True)
    assert 0 < row.cost < 100_000
    told = answer.chunks[-1]["usage"] if stream else answer.json["usage"]
    assert told["completion_tokens"] < 20
    assert books.ledger.overrun == 0


async def test_a_prompt_longer_than_estimated_takes_no_more_than_there_is(
    start: Start, upstream: ScriptedUpstream
) -> None:
    """What lies beyond is the operator's loss, and stands in the books as such."""
    caller = await start(config(upstream, ["groq"]))
    books = Books(caller.gateway)
    books.pay_in(100_000)
    upstream.enqueue(json_reply(chat_reply(usage=chat_usage(90_000, 1))))
    answer = await caller.chat(model="m-groq", max_completion_tokens=10)
    assert answer.status == 200
    row = (await books.audit())[-1]
    assert row.cost == 90_005_000
    assert books.balance() == 0
    assert books.ledger.overrun == 90_005_000 - 100_000
    mine = (await caller.get("/v1/key")).json
    assert (mine["spent_usd"], mine["remaining_usd"]) == ("0.090005", "0")
