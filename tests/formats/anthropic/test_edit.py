"""Requests that stay in this format: what changes, and that nothing else does."""

import json
from typing import Any

import msgspec
import pytest

from tests.formats.anthropic.made import target
from zurelay.chat.problems import Refused
from zurelay.formats.anthropic.edit import write, write_count
from zurelay.formats.anthropic.envelope import unsigned
from zurelay.formats.anthropic.front import MessagesFront
from zurelay.formats.base import Inbound, Outbound, Target
from zurelay.providers.anthropic import ANTHROPIC

HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]
TOOL = {"name": "f", "input_schema": {"type": "object"}}
OLD, BUDGET, NEW, OFF = "claude-opus-4-6", "claude-haiku-4-5", "claude-opus-5-5", "claude-opus-5"


def inbound(headers: dict[str, str] | None = None, **fields: Any) -> Inbound:
    body = {"model": "m", "max_tokens": 9000, "messages": HI, **fields}
    read = MessagesFront().read(json.dumps(body).encode())
    return msgspec.structs.replace(read, headers=headers or {})


def edited(to: Target | None = None, **fields: Any) -> tuple[dict[str, Any], Outbound]:
    out = write(inbound(**fields), to or target(OLD))
    return json.loads(out.body), out


def test_only_the_model_changes() -> None:
    body, out = edited(stream=True)
    assert body == {"model": f"up-{OLD}", "max_tokens": 9000, "messages": HI}
    assert (out.path, out.dropped) == ("/v1/messages", ())
    assert json.loads(write(inbound(), target(OLD, stream=True)).body)["stream"] is True


@pytest.mark.parametrize("kind", ["web_search_20250305", "code_execution_20260120"])
def test_a_tool_that_the_provider_runs_for_a_fee_passes_only_where_it_has_a_price(
    kind: str,
) -> None:
    name = kind.rpartition("_")[0]
    tools = [{"type": kind, "name": name}]
    with pytest.raises(Refused) as refused:
        edited(tools=tools)
    assert (refused.value.problem.code, refused.value.problem.param) == (
        "unsupported_content",
        "tools",
    )
    priced = target(OLD, allows=frozenset({name}))
    assert edited(priced, tools=tools)[0]["tools"] == tools
    assert json.loads(write_count(inbound(tools=tools), target(OLD)).body)["tools"] == tools


def test_tools_that_cost_nothing_extra_pass() -> None:
    tools = [
        {"type": "web_fetch_20250910", "name": "web_fetch"},
        {"type": "bash_20250124", "name": "bash"},
    ]
    assert edited(tools=tools)[0]["tools"] == tools


def test_unknown_fields_keep_their_bytes() -> None:
    raw = (
        b'{"model":"m","max_tokens":1,"mcp_servers": [ {"a":1.0, "b" : "\\u00e9"} ],'
        b'"messages":[{"role":"user","content":[{"type":"new", "x":1.00}]}],"nothing":null}'
    )
    out = write(MessagesFront().read(raw), target(OLD))
    assert b'"mcp_servers":[ {"a":1.0, "b" : "\\u00e9"} ]' in out.body
    assert b'"messages":[{"role":"user","content":[{"type":"new", "x":1.00}]}]' in out.body
    assert b"nothing" not in out.body


def test_what_stays_here() -> None:
    body, out = edited(metadata={"user_id": "u"}, models=["x"])
    assert not {"metadata", "models"} & set(body)
    assert out.dropped == ()


def test_a_limit_above_the_models_own_is_cut() -> None:
    body, out = edited(max_tokens=1_000_000)
    assert (body["max_tokens"], out.dropped) == (128_000, ("max_tokens",))


def test_what_costs_more_passes_only_where_it_is_priced() -> None:
    body, out = edited(speed="fast", service_tier="auto", inference_geo="us")
    assert not {"speed", "service_tier", "inference_geo"} & set(body)
    assert set(out.dropped) == {"speed", "service_tier", "inference_geo"}
    body, out = edited(target(OLD, allows=frozenset({"speed"})), speed="fast")
    assert (body["speed"], out.dropped) == ("fast", ())


def test_sampling() -> None:
    body, out = edited(temperature=1.5, top_k=3)
    assert (body["temperature"], body["top_k"], out.dropped) == (1.0, 3, ("temperature",))
    body, out = edited(target(NEW), temperature=0.5, top_p=0.5, top_k=3)
    assert not {"temperature", "top_p", "top_k"} & set(body)
    assert out.dropped == ("temperature", "top_p", "top_k")


ADAPTIVE, DISABLED = {"type": "adaptive"}, {"type": "disabled"}
ENABLED = {"type": "enabled", "budget_tokens": 2000}


@pytest.mark.parametrize(
    ("model", "level", "asked", "thinking", "effort", "dropped"),
    [
        # What the model accepts stays as it is.
        (NEW, None, {}, None, None, ()),
        (NEW, None, {"thinking": ADAPTIVE}, ADAPTIVE, None, ()),
        (NEW, "low", {"output_config": {"effort": "low"}}, None, "low", ()),
        (OLD, "medium", {"thinking": ENABLED}, ENABLED, None, ()),
        (OFF, "none", {"thinking": DISABLED}, DISABLED, None, ()),
        (BUDGET, "medium", {"thinking": ENABLED}, ENABLED, None, ()),
        (BUDGET, "none", {"thinking": DISABLED}, DISABLED, None, ()),
        # What it does not takes the form that it does.
        (NEW, "medium", {"thinking": ENABLED}, ADAPTIVE, "medium", ("thinking.budget_tokens",)),
        (NEW, "low", {"thinking": DISABLED}, ADAPTIVE, "low", ("thinking.type",)),
        (OLD, "high", {"output_config": {"effort": "xhigh"}}, None, "high", ()),
        (OFF, "none", {"output_config": {"effort": "none"}}, DISABLED, None, ()),
        (OLD, "none", {"thinking": ADAPTIVE, "output_config": {"effort": "none"}}, None, None, ()),
        (
            OFF,
            "none",
            {"thinking": DISABLED, "output_config": {"effort": "max"}},
            DISABLED,
            "high",
            ("output_config.effort",),
        ),
        (
            OFF,
            "none",
            {"thinking": DISABLED, "output_config": {"effort": "low"}},
            DISABLED,
            "low",
            (),
        ),
        (
            BUDGET,
            "low",
            {"output_config": {"effort": "low"}},
            {"type": "enabled", "budget_tokens": 2048},
            None,
            (),
        ),
        (
            BUDGET,
            None,
            {"thinking": ADAPTIVE},
            {"type": "enabled", "budget_tokens": 4904},
            None,
            ("thinking.type",),
        ),
        (BUDGET, "none", {"output_config": {"effort": "none"}}, None, None, ()),
        (
            BUDGET,
            "low",
            {"output_config": {"effort": "low"}, "max_tokens": 100},
            None,
            None,
            ("output_config.effort",),
        ),
    ],
)
def test_thinking_in_the_form_that_the_model_accepts(
    model: str,
    level: str | None,
    asked: dict[str, Any],
    thinking: Any,
    effort: str | None,
    dropped: tuple[str, ...],
) -> None:
    body, out = edited(target(model, effort=level), **asked)
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == effort
    assert out.dropped == dropped


def test_display_and_format_stay() -> None:
    form = {"type": "json_schema", "schema": {"a": 1.0}}
    body, _ = edited(
        target(NEW, effort="low"),
        thinking={**ENABLED, "display": "omitted"},
        output_config={"format": form, "effort": "minimal"},
    )
    assert body["thinking"] == {"type": "adaptive", "display": "omitted"}
    assert body["output_config"] == {"format": form, "effort": "low"}


def test_hosts_of_other_models_get_the_effort() -> None:
    to = target(NEW, effort="low", quirks={"effort_form": "reasoning_effort"})
    assert edited(to, output_config={"effort": "minimal"})[0]["output_config"] == {"effort": "low"}


def test_thinking_that_anthropic_did_not_sign_is_left_out_whole() -> None:
    own = {"type": "thinking", "thinking": "a", "signature": "SIG"}
    foreign = {"type": "thinking", "thinking": "b", "signature": unsigned("groq")}
    bare = {"type": "thinking", "thinking": "c"}
    said = {"type": "text", "text": "x"}
    conversation = [
        *HI,
        {"role": "assistant", "content": [own, said]},
        *HI,
        {"role": "assistant", "content": [foreign, bare, said], "extra": 1},
        *HI,
        {"role": "assistant", "content": [foreign]},
        *HI,
    ]
    body, _ = edited(messages=conversation)
    assert [m["content"] for m in body["messages"] if m["role"] == "assistant"] == [
        [own, said],
        [said],
    ]
    assert body["messages"][3]["extra"] == 1


def test_a_force_that_the_model_refuses_becomes_a_line_that_goes_last() -> None:
    choice = {"type": "tool", "name": "f", "disable_parallel_tool_use": True}
    body, out = edited(target(NEW), tools=[TOOL], tool_choice=choice)
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["messages"][:-1] == HI
    assert body["messages"][-1]["role"] == "system"
    assert "`f`" in body["messages"][-1]["content"]
    assert out.dropped == ("tool_choice",)
    assert out.must_call
    assert edited(target(OLD), tools=[TOOL], tool_choice=choice)[0]["tool_choice"] == choice


def test_prefill() -> None:
    conversation = [*HI, {"role": "assistant", "content": "Once"}]
    with pytest.raises(Refused) as refused:
        edited(messages=conversation)
    assert refused.value.problem.status == 400
    assert edited(target(BUDGET), messages=conversation)[0]["messages"] == conversation
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    waiting = [*HI, {"role": "assistant", "content": [call]}]
    assert edited(messages=waiting)[0]["messages"] == waiting


def test_the_lifetime_of_a_cache_goes_where_it_is_not_known() -> None:
    cached = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    fields: dict[str, Any] = {
        "system": [{"type": "text", "text": "S", **cached}],
        "tools": [{**TOOL, **cached}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **cached}]}],
        **cached,
    }
    body, _ = edited(**fields)
    assert {name: body[name] for name in fields} == fields
    body, _ = edited(target(OLD, quirks={"long_cache": False}), **fields)
    assert "ttl" not in json.dumps(body)
    assert json.dumps(body).count('"cache_control": {"type": "ephemeral"}') == 4


@pytest.mark.parametrize(
    ("asked", "fields", "sent"),
    [
        (None, {}, "2023-06-01"),
        ("2026-10-21", {}, "2026-10-21"),
        ("2026-10-21", {"temperature": 0.5}, "2023-06-01"),
    ],
)
def test_the_version_is_one_under_which_the_body_is_legal(
    asked: str | None, fields: dict[str, Any], sent: str
) -> None:
    headers = {"anthropic-version": asked} if asked else {}
    out = write(inbound(headers=headers, **fields), target(OLD))
    assert dict(out.headers) == {"anthropic-version": sent}


def test_betas_pass_or_are_filtered() -> None:
    one = inbound(headers={"anthropic-beta": "a-1, b-2,"})
    assert dict(write(one, target(OLD)).headers)["anthropic-beta"] == "a-1,b-2"
    out = write(one, target(OLD, quirks={"betas": frozenset({"b-2"})}))
    assert dict(out.headers)["anthropic-beta"] == "b-2"
    assert out.dropped == ("anthropic-beta",)


def test_tools_that_are_loaded_later_have_the_beta_that_the_target_has_for_them() -> None:
    """As Claude Code 2.1.332 sends them; other hosts have another name for it."""
    ours, theirs = "advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19"
    tools = [TOOL, {**TOOL, "name": "g", "defer_loading": True}]
    later = inbound(headers={"anthropic-beta": f"{ours},{theirs}"}, tools=tools)
    elsewhere = target(OLD, quirks={"betas": frozenset({theirs})})
    assert dict(write(later, target(OLD)).headers)["anthropic-beta"] == f"{ours},{theirs}"
    out = write(later, elsewhere)
    assert (dict(out.headers)["anthropic-beta"], out.dropped) == (theirs, ())
    now = inbound(headers={"anthropic-beta": ours}, tools=[TOOL])
    out = write(now, elsewhere)
    assert ("anthropic-beta" in dict(out.headers), out.dropped) == (False, ("anthropic-beta",))


def test_a_count_asks_for_what_counts() -> None:
    out = write_count(inbound(system="S", temperature=0.5, stream=True), target(OLD))
    assert out.path == "/v1/messages/count_tokens"
    assert set(json.loads(out.body)) == {"model", "messages", "system"}


def test_the_same_input_gives_the_same_bytes() -> None:
    one = inbound(tools=[TOOL], tool_choice={"type": "any"})
    before = dict(one.body)
    assert write(one, target(NEW)).body == write(one, target(NEW)).body
    assert one.body == before


@pytest.mark.parametrize("thinking", [ENABLED, ADAPTIVE, DISABLED])
def test_thinking_goes_as_it_is_to_a_model_nobody_knows(thinking: dict[str, Any]) -> None:
    read = inbound(thinking=thinking)
    out = write(read, Target("x", "x", ANTHROPIC.profile, effort=read.effort))
    assert json.loads(out.body)["thinking"] == thinking
    assert out.dropped == ()
