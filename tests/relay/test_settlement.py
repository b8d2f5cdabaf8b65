"""What a request costs and what its row says, however it ends."""

from tests.relay.running import STREAM, Scene
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


async def test_failed_attempts_are_not_billed() -> None:
    scene = Scene(stream=False)
    for _ in range(2):
        scene.calls[-1].reply({"error": {"message": "x"}}, 500)
    assert (scene.row.cost, scene.row.usage, scene.row.http_status) == (0, None, 502)
    assert scene.row.answered_by is None
