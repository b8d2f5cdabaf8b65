"""What is served beside the data plane."""

from tests.api.wire import Caller, get


async def test_the_routes_that_were_given_answer(caller: Caller) -> None:
    caller.write(get("/"))
    answer = await caller.answer()
    assert (answer.status, answer.body) == (200, b"page")


async def test_another_path_is_a_404_in_json(caller: Caller) -> None:
    caller.write(get("/nothing"))
    answer = await caller.answer()
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")
