"""Reasoning effort through the whole gateway, against upstreams that are strict."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Caller
from tests.app.thinking import DROPPED, EFFORT, LEVELS, configuration, plain
from zurelay.chat.effort import SCALE
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.gateway import RunningGateway
from zurelay.testing.script import Script, json_reply, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream
from zurelay.upstream.client import HttpClient

# none, minimal, low, medium, high, xhigh, max
USED = {
    "two": "low low low low high high high",
    "no-xhigh": "low low low medium high high max",
    "upper": "medium medium medium medium high xhigh xhigh",
    "one": "high high high high high high high",
    "with-off": "none low low medium high high high",
    "without": "none none none none none none none",
}


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=plain) as server:
        yield server


@pytest.fixture
def config(upstream: ScriptedUpstream) -> str:
    return configuration(upstream)


def strict(request: Request) -> Script:
    """Answers 400 to any level that the model named does not have, as CLIProxyAPI #1798 saw."""
    body = request.json
    levels = LEVELS[body["model"]]
    if "reasoning_effort" in body and body["reasoning_effort"] not in levels:
        error = {"message": "unsupported", "code": "unsupported_value", "param": "reasoning_effort"}
        return json_reply({"error": error}, 400)
    return plain(request)


@pytest.fixture
async def strict_caller(tmp_path: Path) -> AsyncIterator[tuple[Caller, ScriptedUpstream]]:
    async with (
        ScriptedUpstream(answer=strict) as upstream,
        RunningGateway(tmp_path, configuration(upstream)) as gateway,
        HttpClient() as client,
    ):
        yield Caller(gateway, client), upstream


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", LEVELS)
async def test_no_real_level_is_ever_a_400_and_the_header_tells_the_one_used(
    strict_caller: tuple[Caller, ScriptedUpstream], name: str, stream: bool
) -> None:
    caller, upstream = strict_caller
    for asked, used in zip(SCALE, USED[name].split(), strict=True):
        answer = await caller.chat(model=name, reasoning_effort=asked, stream=stream)
        assert (answer.status, answer.headers[EFFORT]) == (200, used)
        sent = upstream.requests[-1].json
        assert sent.get("reasoning_effort") == (used if LEVELS[name] else None)
        row = await caller.logged(answer)
        assert (row["effort_asked"], row["effort"]) == (asked, used)
    assert len(upstream.requests) == len(SCALE)


@pytest.mark.parametrize(
    ("model", "word", "named"),
    [
        ("two", "hgih", "low, high"),
        ("without", "on", ", ".join(SCALE)),
        ("unknown", "", ", ".join(SCALE)),
        ("no-xhigh", "HIGH", "low, medium, high, max"),
    ],
)
async def test_a_word_that_is_no_level_names_the_models_levels_before_any_upstream(
    caller: Caller, upstream: ScriptedUpstream, model: str, word: str, named: str
) -> None:
    answer = await caller.chat(model=model, reasoning_effort=word)
    error = answer.json["error"]
    assert (answer.status, error["code"], error["param"]) == (
        400,
        "invalid_value",
        "reasoning_effort",
    )
    assert named in error["message"]
    assert upstream.requests == []
    row = await caller.logged(answer)
    assert row["effort"] is None


@pytest.mark.parametrize(
    ("model", "asked", "header", "sent"),
    [
        ("two", None, None, None),
        ("defaulted", None, "high", None),
        ("unknown", None, None, None),
        ("unknown", "xhigh", "xhigh", "xhigh"),
        ("without", None, "none", None),
    ],
)
async def test_left_out_nothing_is_sent_and_the_header_knows_what_the_catalogue_knows(
    caller: Caller,
    upstream: ScriptedUpstream,
    model: str,
    asked: str | None,
    header: str | None,
    sent: str | None,
) -> None:
    answer = await caller.chat(model=model, reasoning_effort=asked)
    assert answer.headers.get(EFFORT) == header
    assert upstream.requests[0].json.get("reasoning_effort") == sent
    assert (await caller.logged(answer))["effort"] == header


async def test_each_candidate_gets_the_level_nearest_for_it(
    caller: Caller, upstream: ScriptedUpstream
) -> None:
    upstream.enqueue(json_reply({"error": {"message": "x"}}, 500))
    answer = await caller.chat(model="falls", reasoning_effort="medium")
    assert [r.json["reasoning_effort"] for r in upstream.requests] == ["low", "medium"]
    assert answer.headers[EFFORT] == "medium"
    row = await caller.logged(answer)
    assert (row["effort_asked"], row["effort"]) == ("medium", "medium")


@pytest.mark.parametrize(
    ("fields", "thinking", "header"),
    [
        ({"reasoning_effort": "high"}, {"type": "enabled", "token_budget": 16384}, "high"),
        (
            {"reasoning_effort": "xhigh", "max_tokens": 4096, "temperature": 0.2},
            {"type": "enabled", "token_budget": 3072},
            "xhigh",
        ),
        ({"reasoning_effort": "high", "max_tokens": 500}, {"type": "disabled"}, "none"),
        ({"reasoning_effort": "none", "temperature": 0}, {"type": "disabled"}, "none"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_budget_stays_below_the_callers_limit_which_is_never_raised(
    caller: Caller,
    upstream: ScriptedUpstream,
    fields: dict[str, Any],
    thinking: dict[str, Any],
    header: str,
    stream: bool,
) -> None:
    answer = await caller.chat(model="budget", stream=stream, **fields)
    sent = upstream.requests[0].json
    assert (answer.status, sent["thinking"]) == (200, thinking)
    assert sent.get("max_tokens") == fields.get("max_tokens")
    assert answer.headers[EFFORT] == header
    turned_off = header != fields["reasoning_effort"]
    assert ("reasoning_effort" in answer.headers.get(DROPPED, "")) == turned_off
    row = await caller.logged(answer)
    assert (row["effort_asked"], row["effort"]) == (fields["reasoning_effort"], header)


COUNTS: list[tuple[dict[str, Any], int, int]] = [
    (
        {
            "prompt_tokens": 2008,
            "completion_tokens": 266,
            "total_tokens": 2274,
            "completion_tokens_details": {"reasoning_tokens": 261},
        },
        266,
        261,
    ),
    (
        {
            "prompt_tokens": 36,
            "completion_tokens": 10,
            "total_tokens": 736,
            "completion_tokens_details": {"reasoning_tokens": 690},
        },
        700,
        690,
    ),
    (
        {
            "prompt_tokens": 38,
            "completion_tokens": 11,
            "total_tokens": 266,
            "completion_tokens_details": {"reasoning_tokens": 217},
        },
        228,
        217,
    ),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("usage", "completion", "reasoning"), COUNTS)
async def test_completion_tokens_always_include_thinking(
    caller: Caller,
    upstream: ScriptedUpstream,
    usage: dict[str, Any],
    completion: int,
    reasoning: int,
    stream: bool,
) -> None:
    events = sse_reply(chat_chunks("Hi", usage=usage))
    upstream.enqueue(events if stream else json_reply(chat_reply("Hi", usage=usage)))
    options: dict[str, Any] = (
        {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    )
    answer = await caller.chat(model="unknown", **options)
    told = answer.chunks[-1]["usage"] if stream else answer.json["usage"]
    assert told["completion_tokens"] == completion
    assert told["completion_tokens_details"]["reasoning_tokens"] == reasoning
    assert told["total_tokens"] == usage["prompt_tokens"] + completion


async def test_the_list_of_models_shows_levels_and_default(caller: Caller) -> None:
    listed = {model["id"]: model for model in (await caller.get("/v1/models")).json["data"]}
    assert listed["defaulted"]["reasoning"] == {"levels": ["low", "high"], "default": "high"}
    assert listed["without"]["reasoning"] == {"levels": [], "default": None}
    assert listed["unknown"]["reasoning"] is None
    one = (await caller.get("/v1/models/gpt-6-sol")).json["reasoning"]
    assert one == {
        "levels": ["none", "low", "medium", "high", "xhigh", "max"],
        "default": "medium",
    }
