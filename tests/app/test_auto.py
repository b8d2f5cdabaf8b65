"""The smart choice in a whole gateway: on every endpoint, with its headers, its log and its list."""

import asyncio
import contextlib
import io
import json
from typing import Any

import pytest

from tests.app.conftest import Answer, Caller, Start
from tests.app.gateways import NAMES
from zurelay.access.auto import AutoTerms
from zurelay.store.keys import auto_column, list_keys
from zurelay.store.terms import change_key
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

AUTO = "zurelay-auto"

SAMPLE = """
from openai import OpenAI
client = OpenAI(base_url="https://api.zurelay.com/v1", api_key="YOUR_ZURELAY_KEY")
response = client.chat.completions.create(
    model="zurelay-auto",
    reasoning_effort="high",
    messages=[{"role": "user", "content": "How many primes are there below 1,000?"}],
)
message = response.choices[0].message
print(getattr(message, "reasoning_content", None))  # the thinking, when the model shares it
print(message.content)
"""
"""The documented example; only its address and key are replaced."""


def configuration(*upstreams: ScriptedUpstream, auto: str = "", models: str = "") -> str:
    """`small`, `middle` and `large`, each at an upstream of its own."""
    facts = {
        "small": 'context = 2000\nprice = { input = "0.10", output = "0.50" }',
        "middle": 'context = 8000\nprice = { input = "1.00", output = "5.00" }',
        "large": 'context = 90000\nprice = { input = "4.00", output = "20.00" }',
    }
    named = list(zip(NAMES, upstreams, strict=True))
    providers = "".join(
        f'[providers.{name}]\nkind = "groq"\nbase_url = "{upstream.base_url}"\n'
        f'api_key = "SECRET-{name}"\ncatalogue = false\n'
        for name, upstream in named
    )
    tables = "".join(
        f'[models."{model}"]\nroutes = ["{name}"]\n{facts[model]}\n'
        'reasoning = { levels = ["low", "high"] }\n'
        for model, (name, _) in zip(facts, named, strict=True)
    )
    tiers = 'tiers = { small = "light", middle = "standard", large = "strong" }'
    return f"[auto]\n{tiers}\n{auto}\n{providers}{tables}{models}"


def good(request: Request) -> Script:
    stream = request.json.get("stream")
    return sse_reply(chat_chunks("Hi")) if stream else json_reply(chat_reply("Hi"))


@pytest.fixture
async def three() -> Any:
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(ScriptedUpstream(answer=good)) for _ in range(3)]


async def ask(caller: Caller, **fields: Any) -> Answer:
    return await caller.chat(**{"model": AUTO, **fields})


def told(answer: Answer) -> tuple[int, str | None, str | None]:
    return (
        answer.status,
        answer.headers.get("x-zurelay-model"),
        answer.headers.get("x-zurelay-routed-from"),
    )


async def test_the_documented_sample_runs_against_a_fresh_gateway(start: Start) -> None:
    caller = await start("")
    base_url = f"{caller.gateway.base_url}/v1"
    code = SAMPLE.replace("https://api.zurelay.com/v1", base_url)
    code = code.replace("YOUR_ZURELAY_KEY", caller.gateway.key)
    printed = io.StringIO()

    def run() -> None:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "sample", "exec"), {})  # noqa: S102 - as a reader would

    await asyncio.to_thread(run)
    thinking, content = printed.getvalue().rstrip().rsplit("\n", 1)
    assert thinking not in ("", "None")
    assert "168" in content


async def test_the_answer_says_who_gave_it_and_the_log_why(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    caller = await start(configuration(*three))
    answer = await ask(caller, reasoning_effort="high")
    assert told(answer) == (200, "large", AUTO)
    assert answer.json["model"] == "large"
    assert answer.headers["x-zurelay-reasoning-effort"] == "high"
    assert three[2].requests[0].json["reasoning_effort"] == "high"
    entry = await caller.logged(answer)
    assert (entry["model"], entry["answered_by"], entry["routed_from"]) == (AUTO, "large", AUTO)
    assert entry["auto"]["tier"] == "strong"
    assert [one["model"] for one in entry["auto"]["ranking"]] == ["large", "middle", "small"]
    assert entry["auto"]["features"]["effort"] == "high"
    assert entry["auto"]["reason"].endswith(".")
    assert float(entry["auto"]["ranking"][0]["expected_cost_usd"]) > 0


async def test_a_request_that_names_its_model_has_nothing_of_it_in_the_log(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    caller = await start(configuration(*three))
    answer = await ask(caller, model="small")
    assert told(answer) == (200, "small", None)
    assert "auto" not in await caller.logged(answer)


async def test_the_rest_of_the_ranking_is_fallen_back_to_with_effort_clamped_anew(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    three[2].enqueue(json_reply({"error": {"message": "down"}}, 500))
    caller = await start(configuration(*three))
    answer = await ask(caller, reasoning_effort="max")
    assert told(answer) == (200, "middle", AUTO)
    assert three[1].requests[0].json["reasoning_effort"] == "high"


@pytest.mark.parametrize("stream", [False, True])
async def test_an_overflow_moves_on_to_the_next_in_the_ranking(
    start: Start, three: list[ScriptedUpstream], stream: bool
) -> None:
    overflow = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    three[0].enqueue(json_reply(overflow, 400))
    caller = await start(configuration(*three))
    answer = await ask(caller, stream=stream)
    assert told(answer) == (200, "middle", AUTO)


async def test_a_content_filter_does_not_move_on_unless_models_were_listed(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    filtered = {"error": {"message": "filtered", "code": "content_filter"}}
    three[0].enqueue(json_reply(filtered, 400), json_reply(filtered, 400))
    caller = await start(configuration(*three))
    assert (await ask(caller)).status == 400
    answer = await ask(caller, models=["small", "large"])
    assert told(answer) == (200, "large", AUTO)


async def test_messages_and_responses_choose_too(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    caller = await start(configuration(*three))
    headers = {**caller.gateway.headers, "content-type": "application/json"}
    messages = {
        "model": AUTO,
        "max_tokens": 3000,
        "messages": [{"role": "user", "content": "Hi"}],
        "output_config": {"effort": "high"},
    }
    answer = await caller.send("POST", "/v1/messages", json.dumps(messages).encode(), headers)
    assert told(answer) == (200, "large", AUTO)
    assert answer.json["model"] == "large"
    responses = {"model": AUTO, "input": "Hi", "reasoning": {"effort": "low"}}
    answer = await caller.send("POST", "/v1/responses", json.dumps(responses).encode(), headers)
    assert told(answer) == (200, "small", AUTO)
    counted = {"model": AUTO, "messages": messages["messages"]}
    answer = await caller.send(
        "POST", "/v1/messages/count_tokens", json.dumps(counted).encode(), headers
    )
    assert answer.json["input_tokens"] > 0
    vectors = json.dumps({"model": AUTO, "input": "Hi"}).encode()
    answer = await caller.send("POST", "/v1/embeddings", vectors, headers)
    assert (answer.status, answer.json["error"]["param"]) == (400, "model")


async def test_a_conversation_stays_and_lets_go_when_it_outgrows_the_choice(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    close = configuration(*three).replace(
        'input = "1.00", output = "5.00"', 'input = "0.15", output = "0.70"'
    )
    caller = await start(close)
    three[0].enqueue(json_reply({"error": {"message": "down"}}, 500))
    opening = {"role": "user", "content": "Tell me more."}
    assert told(await ask(caller, messages=[opening]))[1] == "middle"
    again = [opening, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And?"}]
    answer = await ask(caller, messages=again)
    assert told(answer)[1] == "middle"
    assert "prompt cache" in (await caller.logged(answer))["auto"]["reason"]
    assert told(await ask(caller, messages=[{"role": "user", "content": "Else"}]))[1] == "small"
    long = [*again, {"role": "assistant", "content": "word " * 9000}, opening]
    assert told(await ask(caller, messages=long))[1] == "large"


async def test_what_ruled_each_model_out_is_told(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    caller = await start(
        configuration(*three, auto='exclude = ["large"]\nceiling = { input = "0.50" }')
    )
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    answer = await ask(caller, messages=[{"role": "user", "content": "word " * 9000}])
    assert (answer.status, answer.json["error"]["code"]) == (400, "context_length_exceeded")
    for part in ("dearer than the ceiling: middle", "excluded by the operator: large"):
        assert part in answer.json["error"]["message"].lower()
    assert (await ask(caller, messages=[{"role": "user", "content": [picture]}])).status == 200
    entry = await caller.logged(answer)
    assert (entry["status"], entry["error"]) == ("error", "context_length_exceeded")


async def test_it_stands_in_both_lists_with_a_price_range(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    caller = await start(configuration(*three))
    shown = (await caller.get(f"/v1/models/{AUTO}")).json
    assert shown["id"] == AUTO
    assert (shown["context"], shown["routes_up"], shown["owned_by"]) == (90000, 3, "zurelay")
    assert shown["reasoning"] == {"levels": ["low", "high"], "default": None}
    assert shown["price"] == {
        "from": {"input": "0.10", "output": "0.50"},
        "to": {"input": "4.00", "output": "20.00"},
    }
    listed = (await caller.get("/v1/models")).json["data"]
    assert listed[0] == shown
    headers = {**caller.gateway.headers, "anthropic-version": "2023-06-01"}
    one = (await caller.send("GET", f"/v1/models/{AUTO}", headers=headers)).json
    assert (one["type"], one["id"], one["max_input_tokens"]) == ("model", AUTO, 90000)
    page = (await caller.send("GET", "/v1/models?limit=1", headers=headers)).json
    assert page["data"][0] == one


async def test_its_id_follows_the_brand(start: Start) -> None:
    caller = await start('[brand]\nwire = "acme"')
    answer = await caller.chat(model="acme-auto")
    assert answer.headers["x-acme-routed-from"] == "acme-auto"
    assert answer.headers["x-acme-model"] == "sandbox/echo"
    missing = await caller.chat(model="acme-aut")
    assert "'acme-auto'" in missing.json["error"]["message"]


async def test_limits_of_a_model_hold_for_it_when_it_is_chosen(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    limited = configuration(*three).replace(
        "context = 2000", "context = 2000\nlimits = { rpm = 1 }"
    )
    caller = await start(limited)
    assert (await ask(caller)).status == 200
    assert (await ask(caller)).status == 429


async def test_a_keys_own_terms_hold_within_a_second(
    start: Start, three: list[ScriptedUpstream]
) -> None:
    caller = await start(configuration(*three))
    with caller.gateway.store.write() as connection:
        (key,) = list_keys(connection)
        terms = AutoTerms(exclude=("small",))
        change_key(connection, key.id, {"auto": auto_column(terms)})
    async with asyncio.timeout(10):
        while told(await ask(caller))[1] != "middle":
            await asyncio.sleep(0.05)
    assert (await caller.get(f"/v1/models/{AUTO}")).json["price"]["from"]["input"] == "1.00"
    assert told(await ask(caller, model="small"))[1] == "small"
