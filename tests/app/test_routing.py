"""Which route is asked, in which order, how often, and what a caller is told when none answers."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.app.conftest import Answer, Start
from tests.app.gateways import configuration
from zurelay.relay import runner
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import Close, Reset, Script, Stall, head, json_reply, reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not make a failure that came at once look slow."""
    monkeypatch.setattr(runner, "_AT_ONCE_SECONDS", 30.0)


def error(status: int, message: str = "bad", **fields: Any) -> Script:
    headers = fields.pop("headers", None)
    return json_reply({"error": {"message": message, **fields}}, status, headers)


def good(request: Request) -> Script:
    stream = request.json.get("stream")
    return sse_reply(chat_chunks("Hi")) if stream else json_reply(chat_reply("Hi"))


def answered(answer: Answer) -> tuple[int, str]:
    body = (
        answer.text if b"data:" in answer.body else answer.json["choices"][0]["message"]["content"]
    )
    return answer.status, body


MOVES_ON: dict[str, tuple[Script, int]] = {
    # what the first route does, and how often it is asked
    "closed": ([Close()], 2),
    "reset": ([Reset()], 2),
    "500": (error(500), 1),
    "502 at once": (error(502), 2),
    "503 at once": (error(503), 2),
    "504": (error(504), 1),
    "529": (error(529), 1),
    "408": (error(408), 1),
    "429": (error(429), 1),
    "401": (error(401), 1),
    "402": (error(402), 1),
    "403": (error(403), 1),
    "404": (error(404, "no such model"), 1),
    "424": (error(424), 1),
    "credit as 400": (
        error(400, "Your credit balance is too low", code="insufficient_quota"),
        1,
    ),
    "quota as 429": (error(429, "pay", code="insufficient_quota", type="insufficient_quota"), 1),
    "not json": (reply(b"<html>", 200, {"content-type": "text/html"}), 1),
    "no http": ([head(200), Reset()], 1),
    "error in a 200": (error(200, code=500), 1),
    "empty": (json_reply(chat_reply("")), 1),
    "silent": ([Stall()], 1),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", MOVES_ON)
async def test_a_fault_of_the_route_moves_on_to_the_next(
    start: Start,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    name: str,
    stream: bool,
) -> None:
    script, calls = MOVES_ON[name]
    routing = "start_deadline_s = 0.5" if name == "silent" else ""
    caller = await start(configuration(upstream, second, routing=routing))
    upstream.enqueue(*[script] * calls)
    second.enqueue(sse_reply(chat_chunks("Hi")) if stream else json_reply(chat_reply("Hi")))
    answer = await caller.chat(stream=stream)
    assert answered(answer) == (200, "Hi")
    assert (len(upstream.requests), len(second.requests)) == (calls, 1)
    row = await caller.logged(answer)
    assert [a["route"] for a in row["attempts"]] == [1] * calls + [2]
    assert row["routed_from"] is None
    assert "x-zurelay-routed-from" not in answer.headers


STAYS: dict[str, tuple[Script, int, str | None]] = {
    "400": (error(400, "bad param", type="invalid_request_error"), 400, None),
    "409": (error(409), 409, None),
    "413": (error(413), 413, None),
    "422": (error(422), 422, None),
    "overflow": (error(400, "x", code="context_length_exceeded"), 400, "context_length_exceeded"),
    "overflow as 413": (
        error(413, "too many tokens: 300000 tokens > 200000 maximum"),
        400,
        "context_length_exceeded",
    ),
}


@pytest.mark.parametrize("name", STAYS)
async def test_the_requests_own_fault_stays_and_marks_no_route_down(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, name: str
) -> None:
    script, status, code = STAYS[name]
    caller = await start(configuration(upstream, second))
    upstream.enqueue(*[script] * 10)
    for _ in range(10):
        answer = await caller.chat()
        assert answer.status == status
        if code is not None:
            assert answer.json["error"]["code"] == code
    assert len(upstream.requests) == 10
    upstream.enqueue(json_reply(chat_reply("Hi")))
    assert answered(await caller.chat()) == (200, "Hi")
    assert second.requests == []


@pytest.mark.parametrize("listed", [True, False])
async def test_overflow_moves_on_only_to_a_listed_model(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, listed: bool
) -> None:
    fallback = 'fallbacks = ["other-model"]\n'
    config = configuration(upstream, second).replace(
        '[models."other-model"]', f'{fallback}[models."other-model"]'
    )
    caller = await start(config)
    upstream.enqueue(error(400, "x", code="context_length_exceeded"))
    second.enqueue(json_reply(chat_reply("Hi")))
    answer = await caller.chat(models=["other-model"] if listed else None)
    if not listed:
        assert answer.json["error"]["code"] == "context_length_exceeded"
        assert second.requests == []
        return
    assert answered(answer) == (200, "Hi")
    assert answer.headers["x-zurelay-model"] == answer.json["model"] == "other-model"
    assert answer.headers["x-zurelay-routed-from"] == "test-model"
    assert second.requests[0].json["model"] == "other-model"
    row = await caller.logged(answer)
    assert (row["model"], row["answered_by"], row["routed_from"]) == (
        "test-model",
        "other-model",
        "test-model",
    )


async def test_fallbacks_come_after_the_routes_and_an_empty_list_means_none(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    config = configuration(upstream) + (
        f'[providers.other]\nkind = "groq"\nbase_url = "{second.base_url}"\napi_key = "k"\n'
        'catalogue = false\n[models.last]\nroutes = ["other"]\n'
    )
    config = config.replace(
        '[models."other-model"]', 'fallbacks = ["last"]\n[models."other-model"]'
    )
    caller = await start(config)
    upstream.enqueue(error(500), error(500))
    second.enqueue(json_reply(chat_reply("Hi")))
    answer = await caller.chat()
    assert answered(answer) == (200, "Hi")
    assert answer.headers["x-zurelay-routed-from"] == "test-model"
    answer = await caller.chat(models=[])
    assert (answer.status, len(second.requests)) == (502, 1)


# Retry-After.


def date(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize("told", ["30", "date"])
async def test_a_resting_route_is_not_asked_before_its_time(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream, told: str
) -> None:
    caller = await start(configuration(upstream, second))
    after = date(30) if told == "date" else told
    upstream.enqueue(error(429, headers={"retry-after": after, "date": date(0)}))
    second.enqueue(*[json_reply(chat_reply("Hi"))] * 3)
    for _ in range(3):
        assert answered(await caller.chat()) == (200, "Hi")
    assert len(upstream.requests) == 1


async def test_when_every_route_rests_the_shortest_wait_is_told(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second))
    upstream.enqueue(error(429, headers={"retry-after": "60"}))
    second.enqueue(error(429, headers={"retry-after": "20"}))
    for _ in range(2):
        answer = await caller.chat()
        assert (answer.status, answer.json["error"]["code"]) == (429, "rate_limit_exceeded")
        assert 18 <= int(answer.headers["retry-after"]) <= 20
        assert "x-should-retry" not in answer.headers
    assert len(upstream.requests) == len(second.requests) == 1


async def test_a_short_wait_is_waited_for(start: Start, upstream: ScriptedUpstream) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(error(429, headers={"retry-after-ms": "300"}), json_reply(chat_reply("Hi")))
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert answered(await caller.chat()) == (200, "Hi")
    assert 0.29 < loop.time() - began < 2


# Bounds.


@pytest.mark.parametrize(("bound", "calls"), [(1, (1, 0)), (2, (1, 1)), (3, (2, 1)), (6, (2, 2))])
async def test_attempts_are_bounded_and_a_second_try_takes_no_other_routes_place(
    start: Start,
    upstream: ScriptedUpstream,
    second: ScriptedUpstream,
    bound: int,
    calls: tuple[int, int],
) -> None:
    caller = await start(configuration(upstream, second, routing=f"attempts = {bound}"))
    upstream._answer = second._answer = lambda _: error(503)
    answer = await caller.chat()
    assert answer.status == 503
    assert (len(upstream.requests), len(second.requests)) == calls


async def test_once_all_routes_were_tried_clients_are_told_not_to_try_again(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream, second))
    upstream.enqueue(error(500))
    second.enqueue(error(401))
    answer = await caller.chat()
    assert (answer.status, answer.headers["x-should-retry"]) == (502, "false")
    message = answer.json["error"]["message"]
    assert "route 1 (test-model): bad_answer; route 2 (test-model): refused_credential" in message


async def test_a_route_that_keeps_failing_is_cut_off_and_probed_later(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream._answer = lambda _: error(500)
    second._answer = good
    caller = await start(configuration(upstream, second))
    for _ in range(30):
        assert (await caller.chat()).status == 200
    cut = len(upstream.requests)
    assert cut < 15
    parts = caller.gateway.process._parts.parts
    served = caller.gateway.process._gateway.core.snapshot.table.models["test-model"]
    [known] = [parts.services.health._of(r) for r in served.routes if r.number == 1]
    known.breaker.open_until = 0.0  # its time is over
    upstream._answer = good
    assert (await caller.chat()).status == 200
    assert len(upstream.requests) == cut + 1


async def test_a_refused_credential_rests_every_route_of_its_provider(
    start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    upstream._answer = lambda _: error(401, "SECRET-first is no good")
    second._answer = good
    extra = (
        '[models.third]\nroutes = [{ provider = "first", priority = 1 }, '
        '{ provider = "second", priority = 2 }]\n'
    )
    caller = await start(configuration(upstream, second, models=extra))
    for model in ["test-model"] * 10 + ["third"] * 10:
        answer = await caller.chat(model=model)
        assert answer.status == 200
        assert b"SECRET" not in answer.body
    assert len(upstream.requests) <= 2


async def test_content_no_route_can_take_is_refused_unasked(
    start: Start, upstream: ScriptedUpstream
) -> None:
    config = configuration(upstream).replace("context =", 'input = ["text"]\ncontext =')
    caller = await start(config)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    answer = await caller.chat(messages=[{"role": "user", "content": [image]}])
    body = answer.json["error"]
    assert (answer.status, body["code"]) == (400, "unsupported_content")
    assert body["param"] == "messages[0].content[0]"
    assert upstream.requests == []


async def test_a_connection_that_went_stale_costs_no_request(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream._answer = good
    for round_ in range(50):
        answer = await caller.chat(user=f"u-{round_}")
        assert answered(answer) == (200, "Hi")
        upstream.drop_all()
    assert len(upstream.requests) == 50


async def test_the_providers_own_name_of_the_model_appears_nowhere(
    start: Start, upstream: ScriptedUpstream
) -> None:
    caller = await start(configuration(upstream))
    upstream.enqueue(
        json_reply(chat_reply("Hi", model="upstream-first")),
        sse_reply(chat_chunks("Hi", model="upstream-first")),
        error(400, "upstream-first has no such parameter"),
    )
    for stream in (False, True, False):
        answer = await caller.chat(stream=stream)
        assert b"upstream-first" not in answer.body
        assert "upstream-first" not in str(dict(answer.headers))
    assert "test-model has no such" in answer.json["error"]["message"]


@pytest.mark.parametrize("asked", ["true", "false"])
async def test_providers_are_named_only_where_the_operator_lets_callers_see_them(
    start: Start, upstream: ScriptedUpstream, asked: str
) -> None:
    config = configuration(upstream).replace("expose_routes = false", f"expose_routes = {asked}")
    caller = await start(config)
    upstream.enqueue(error(500, "upstream-first broke with SECRET-first"))
    answer = await caller.chat()
    shown = (await caller.logged(answer))["attempts"][0]
    assert b"SECRET-first" not in answer.body
    if asked == "true":
        assert (
            "route 1 (test-model at first): bad_answer, said: test-model broke with"
            in (answer.json["error"]["message"])
        )
        assert shown["provider"] == "first"
        assert shown["detail"].startswith("test-model broke")
    else:
        assert "broke with" not in answer.json["error"]["message"]
        assert "provider" not in shown
        assert "detail" not in shown


async def test_a_label_is_shown_to_everybody(start: Start, upstream: ScriptedUpstream) -> None:
    config = configuration(upstream).replace("catalogue =", 'label = "primary"\ncatalogue =', 1)
    caller = await start(config)
    upstream.enqueue(error(500))
    answer = await caller.chat()
    assert "route 1 (test-model at primary)" in answer.json["error"]["message"]
    assert (await caller.logged(answer))["attempts"][0]["label"] == "primary"
