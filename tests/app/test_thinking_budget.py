"""Effort on Claude: budgets that keep the vendor's rules, and models that think adaptively."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.app.conftest import Caller
from tests.app.thinking import DROPPED, EFFORT, TOOLS, claude_says
from zurelay.testing.script import Script, json_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

CONFIG = """
[sandbox]
enabled = false

[providers.claude]
kind = "anthropic"
base_url = "{upstream}"
api_key = "k"
"""
BUDGET, ADAPTIVE = "claude-haiku-4-5", "claude-opus-5-5"


def broken_rule(body: dict[str, Any]) -> str | None:
    """Anthropic's rules that BerriAI/litellm #27051 and its likes broke; None if all are kept."""
    thinking = body.get("thinking") or {"type": "disabled"}
    if body["model"].startswith(ADAPTIVE):
        if "budget_tokens" in thinking:
            return "budget_tokens is not supported on this model"
        refused = {"temperature", "top_p", "top_k"} & body.keys()
        return f"{refused} is not supported" if refused else None
    if thinking["type"] != "enabled":
        return None
    if not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        return "budget_tokens must be >= 1024 and less than max_tokens"
    if body.get("temperature", 1) != 1 or "top_k" in body or body.get("top_p", 1) < 0.95:
        return "sampling while thinking"
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


def claude(request: Request) -> Script:
    """A strict Messages endpoint."""
    body = request.json
    broken = broken_rule(body)
    if broken is not None:
        error = {"type": "invalid_request_error", "message": broken}
        return json_reply({"type": "error", "error": error}, 400)
    return claude_says("Hi", body)


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=claude) as server:
        yield server


@pytest.fixture
def config(upstream: ScriptedUpstream) -> str:
    return CONFIG.format(upstream=upstream.base_url)


VARIANTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "too small for both": ({"reasoning_effort": "high", "max_tokens": 500}, "none", "high"),
    "with temperature": (
        {"reasoning_effort": "xhigh", "max_tokens": 4096, "temperature": 0.2},
        "xhigh",
        "xhigh",
    ),
    "with a forced tool": (
        {
            "reasoning_effort": "low",
            "max_tokens": 4096,
            "tool_choice": "required",
            "tools": TOOLS,
        },
        "none",
        "low",
    ),
    "effort alone": ({"reasoning_effort": "high"}, "high", "high"),
    "off": ({"reasoning_effort": "none", "temperature": 0}, "none", "low"),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", [BUDGET, ADAPTIVE])
@pytest.mark.parametrize("name", VARIANTS)
async def test_effort_never_breaks_a_rule_of_thinking(
    caller: Caller, upstream: ScriptedUpstream, name: str, model: str, stream: bool
) -> None:
    fields, on_budget, on_adaptive = VARIANTS[name]
    answer = await caller.chat(model=model, stream=stream, **fields)
    assert answer.status == 200, answer.body
    sent = upstream.requests[0].json
    if "max_tokens" in fields:
        assert sent["max_tokens"] == fields["max_tokens"]
    else:
        assert sent["max_tokens"] <= 32768
    used = on_budget if model == BUDGET else on_adaptive
    assert answer.headers[EFFORT] == used
    if model == BUDGET:
        assert ((sent.get("thinking") or {}).get("type") == "enabled") == (used != "none")
        off = used == "none" and fields["reasoning_effort"] != "none"
        assert ("reasoning_effort" in answer.headers.get(DROPPED, "")) == off
        kept = "temperature" in fields and used == "none"
        assert ("temperature" in sent) == kept
    else:
        assert sent["output_config"]["effort"] == used
    row = await caller.logged(answer)
    assert (row["effort_asked"], row["effort"]) == (fields["reasoning_effort"], used)
