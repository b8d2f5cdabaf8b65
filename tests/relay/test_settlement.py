"""What a request costs and what its row says, however it ends."""

import json
from typing import Any

import pytest

from tests.relay.running import STREAM, Scene
from zurelay.catalogue.price import parse_price
from zurelay.chat.usage import Usage
from zurelay.testing.chat import chat_chunk, chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import sse_event

USD = 1_000_000_000


async def test_the_providers_own_count_is_billed() -> None:
    scene = Scene(stream=False)
    scene.calls[0].reply(chat_reply("Hi", usage=chat_usage(1000, 100)))
    row = scene.row
    assert row.usage is not None
    assert (row.usage.prompt, row.usage.completion, row.cost_estimated) == (1000, 100, False)
    assert row.cost == 1000 * 1000 + 100 * 5000  # nano-dollars at 1 and 5 USD a million
    assert (row.answered_by, row.routed_from, row.finish_reason) == ("m", None, "stop")


async def test_without_a_count_input_and_what_was_delivered_are_estimated() -> None:
    scene = Scene(stream=True)
    scene.calls[0].stream("one two three four five six")
    row = scene.row
    assert row.usage is not None
    assert row.cost_estimated
    assert row.usage.prompt > 0
    assert 4 <= row.usage.completion <= 12
    assert row.cost > 0


async def test_a_broken_answer_is_billed_for_what_came() -> None:
    scene = Scene(stream=True)
    call = scene.calls[0]
    call.receiver.head(200, STREAM)
    call.receiver.data(sse_event(chat_chunk({"content": "one two"})))
    call.receiver.end()
    assert (scene.row.status, scene.row.error, scene.row.http_status) == (
        "error",
        "upstream_failed",
        200,
    )
    assert scene.row.cost > 0


async def test_leaving_before_a_token_costs_nothing_and_after_one_what_came() -> None:
    for said, status in ((0, 499), (3, 200)):
        scene = Scene(stream=True)
        if said:
            scene.calls[0].say(*chat_chunks("one two")[:said])
        scene.caller.leave()
        assert (scene.row.status, scene.row.http_status) == ("client_closed", status)
        assert (scene.row.cost > 0, scene.row.answered_by) == (bool(said), "m" if said else None)


@pytest.mark.parametrize("leaves", [True, False])
async def test_a_count_told_at_the_beginning_does_not_make_the_rest_of_a_broken_answer_free(
    leaves: bool,
) -> None:
    scene = Scene(stream=True)
    first = {**chat_chunk({"content": "a"}), "usage": chat_usage(1000, 1)}
    scene.calls[0].say(first, *[chat_chunk({"content": "1234567 "}) for _ in range(50)])
    if leaves:
        scene.caller.leave()
    else:
        scene.calls[0].receiver.end()
    usage = scene.row.usage
    assert usage is not None
    assert (usage.prompt, usage.completion) == (1000, 101)
    assert scene.row.cost_estimated


async def test_a_running_count_holds_where_it_is_ahead_of_what_was_read() -> None:
    scene = Scene(stream=True)
    scene.calls[0].say({**chat_chunk({"content": "a"}), "usage": chat_usage(1000, 700)})
    scene.caller.leave()
    assert (scene.row.usage, scene.row.cost_estimated) == (Usage(1000, output=700), False)


async def test_failed_attempts_are_not_billed() -> None:
    scene = Scene(stream=False)
    for _ in range(2):
        scene.calls[-1].reply({"error": {"message": "x"}}, 500)
    assert (scene.row.cost, scene.row.usage, scene.row.http_status) == (0, None, 502)
    assert scene.row.answered_by is None


async def test_an_explicit_zero_is_a_zero() -> None:
    scene = Scene(stream=False)
    scene.calls[0].reply(chat_reply("Hi", usage=chat_usage(0, 0)))
    assert (scene.row.cost, scene.row.cost_estimated) == (0, False)


async def test_the_keys_markup_stands_in_place_of_the_models_and_what_the_provider_asks_is_kept() -> (
    None
):
    costs = []
    for markup in (None, 2_000_000):
        scene = Scene(stream=False, facts={"markup": 1_500_000}, markup=markup)
        scene.calls[0].reply(chat_reply("Hi", usage=chat_usage(1000, 100)))
        costs.append((scene.row.cost, scene.row.upstream_cost))
    assert costs == [(2_250_000, 1_500_000), (3_000_000, 1_500_000)]


TIERED = parse_price({"input": "1", "output": "5", "tiers": {"flex": "0.5", "priority": "2"}})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("asked", "told", "cost"),
    [
        ("priority", "priority", 3_000_000),
        ("priority", "default", 1_500_000),  # it was too busy for that
        ("flex", None, 750_000),  # it says nothing: what was asked for
        (None, "flex", 750_000),
        (None, None, 1_500_000),
    ],
)
async def test_the_tier_that_was_used_is_charged(
    stream: bool, asked: str | None, told: str | None, cost: int
) -> None:
    fields = {"service_tier": asked} if asked else {}
    scene = Scene(stream=stream, fields=fields, facts={"price": TIERED})
    call = scene.calls[0]
    assert json.loads(call.call.body).get("service_tier") == asked
    extra: dict[str, Any] = {"service_tier": told} if told else {}
    usage = chat_usage(1000, 100)
    if stream:
        *events, counted, end = chat_chunks("Hi", usage=usage)
        assert isinstance(counted, dict)
        call.say(*events, {**counted, **extra}, end)
        call.receiver.end()
    else:
        call.reply({**chat_reply("Hi", usage=usage), **extra})
    assert (scene.row.cost, scene.row.unpriced) == (cost, ())


async def test_a_tier_without_a_price_is_not_asked_for_and_costs_the_standard_one() -> None:
    scene = Scene(stream=False, fields={"service_tier": "scale"}, facts={"price": TIERED})
    assert "service_tier" not in json.loads(scene.calls[0].call.body)
    scene.calls[0].reply({**chat_reply("Hi", usage=chat_usage(1000, 0)), "service_tier": "scale"})
    assert (scene.row.dropped, scene.row.cost) == (("service_tier",), 1_000_000)
    assert scene.row.unpriced == ("service_tier",)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_count_beyond_the_limit_is_replaced_by_the_estimate_in_row_bill_and_answer(
    stream: bool,
) -> None:
    options = {"stream_options": {"include_usage": True}} if stream else {}
    scene = Scene(stream=stream, fields={"max_tokens": 50, **options})
    usage = chat_usage(1000, 1_000_000)
    if stream:
        scene.calls[0].say(*chat_chunks("12345678", usage=usage))
        scene.calls[0].receiver.end()
        told = json.loads(scene.caller.body.split(b"data: ")[-2])["usage"]
    else:
        scene.calls[0].reply(chat_reply("12345678", usage=usage))
        told = json.loads(scene.caller.body)["usage"]
    row = scene.row
    assert row.usage is not None
    assert (row.usage.prompt, row.usage.completion) == (1000, 2)
    assert (row.implausible, row.cost_estimated) == (True, True)
    assert row.cost == 1000 * 1000 + 2 * 5000
    assert (told["prompt_tokens"], told["completion_tokens"]) == (1000, 2)


async def test_a_prompt_beyond_the_window_is_replaced_by_the_estimate() -> None:
    scene = Scene(stream=False, facts={"context": 8000})
    scene.calls[0].reply(chat_reply("Hi", usage=chat_usage(9000, 1)))
    assert scene.row.usage is not None
    assert scene.row.usage.prompt == scene.job.plan.input_estimate < 100
    assert scene.row.implausible


async def test_without_a_price_nothing_is_charged_and_the_row_says_so() -> None:
    scene = Scene(stream=False, facts={"price": None})
    scene.calls[0].reply()
    assert (scene.row.cost, scene.row.unpriced) == (0, ("model",))
