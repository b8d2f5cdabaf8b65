"""A Messages request for an upstream, written from the neutral form.

A pure function of its input. Limits of the format: vendor's API reference, 2026-11-29.
"""

from typing import Any

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice
from zurelay.formats import cache_marks, json_call, schema
from zurelay.formats.anthropic import VERSION, effort, turns
from zurelay.formats.anthropic.blocks import cache_control
from zurelay.formats.base import Outbound, Target
from zurelay.formats.reported import reported
from zurelay.formats.tool_names import legal_name, renamed
from zurelay.wire import json

Json = dict[str, Any]

PATH = "/v1/messages"
LIMIT = 8192
LIMIT_THINKING = 32_768
_MOST_STRICT = 20
"""Strict tools in one request; more are a 400."""

DROPS = (
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "verbosity",
    "prompt_cache_key",
)
"""What this format has no place for."""

_SAMPLING = ("temperature", "top_p", "top_k")


def write(asked: Request, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    if asked.n > 1:
        told = "This model gives one answer at a time: 'n' must be 1."
        raise Refused(problems.invalid_value("n", told))
    profile = target.profile
    as_call = json_call.instead(asked, profile, effort.may_think(target))
    asked, whole = _cached(as_call or asked, profile)
    dropped = [name for name in DROPS if getattr(asked, name) is not None]
    if any(turn.name is not None for turn in asked.turns):
        dropped.append("messages[].name")
    conversation = turns.write(asked.turns, profile)
    limit = _limit(asked, target, dropped)
    forced = asked.tool_choice is not None and asked.tool_choice.mode in ("required", "named")
    thought = effort.ask(
        target,
        limit,
        obstacle=conversation.bare_calls or conversation.prefill or (forced and bool(asked.tools)),
    )
    if thought.refused:
        dropped.append("reasoning_effort")
    body: Json = {"model": target.upstream_model, "max_tokens": limit}
    tools = _tools(asked, target, dropped)
    lines: list[str] = []
    choice = _choice(asked, target, lines, dropped)
    answer = _format(asked, target, lines, dropped)
    if whole and lines:  # ours go last and change: the end of the caller's own is marked
        turns.mark_end(conversation, whole)
        whole = {}
    for line in lines:
        turns.add_line(conversation, line, profile)
    if conversation.system:
        body["system"] = conversation.system
    body["messages"] = conversation.messages
    body |= tools | choice | whole
    if thought.thinking is not None:
        body["thinking"] = thought.thinking
    output = answer | ({} if thought.effort is None else {"effort": thought.effort})
    if output:
        body["output_config"] = output
    body |= _sampling(asked, target, thought.thinks, dropped)
    stops = tuple(stop for stop in asked.stop if not stop.strip())
    kept = [stop for stop in asked.stop if stop.strip()]
    if kept:
        body["stop_sequences"] = kept
    body |= _tier(asked, target, dropped)
    if target.stream:
        body["stream"] = True
    kept_extra = {*_SAMPLING, *(["cache_control"] if profile.whole_cache else [])}
    dropped += reported(name for name in asked.extra if name not in kept_extra)
    return Outbound(
        PATH,
        json.encode(body),
        tuple(dict.fromkeys(dropped)),
        headers=(("anthropic-version", VERSION),),
        stop=stops,
        effort="none" if thought.refused else None,
        tool_names=renamed(tool.name for tool in asked.tools),
        json_text=as_call is not None
        or (asked.answer_format is not None and "format" not in output),
        must_call="tool_choice" in dropped,
        json_call=as_call is not None,
    )


def _cached(asked: Request, profile: Profile) -> tuple[Request, Json]:
    """The request with its breakpoints, and the field that marks the end of the whole.

    Marked as a whole, no message changes when the conversation goes on.
    """
    if not cache_marks.wanted(asked, profile):
        lasting = cache_marks.lifetime(asked.extra) if profile.whole_cache else None
        return asked, cache_control(lasting, profile)
    goes_on = cache_marks.goes_on(asked)
    asked = cache_marks.start_marked(asked)
    if goes_on and profile.whole_cache:
        return asked, cache_control("5m", profile)
    return (cache_marks.end_marked(asked) if goes_on else asked), {}


def _limit(asked: Request, target: Target, dropped: list[str]) -> int:
    """The token limit, which this format requires."""
    most = target.max_output
    limit = asked.max_output
    if limit is None:
        limit = LIMIT_THINKING if effort.may_think(target) else LIMIT
        return limit if most is None else min(limit, most)
    if most is not None and limit > most:
        dropped.append("max_tokens")
        return most
    return limit


def _tools(asked: Request, target: Target, dropped: list[str]) -> Json:
    if not asked.tools:
        return {}
    strict = sum(bool(tool.strict) for tool in asked.tools)
    takes_strict = target.profile.strict_tools and strict <= _MOST_STRICT
    if strict and not takes_strict:
        dropped.append("tools[].function.strict")
    return {"tools": [_tool(tool, target, takes_strict) for tool in asked.tools]}


def _tool(tool: Tool, target: Target, takes_strict: bool) -> Json:
    given: Json = {"name": legal_name(tool.name)}
    if tool.description:
        given["description"] = tool.description
    given["input_schema"] = schema.parameters(tool.parameters)
    if tool.strict and takes_strict and not schema.recursive(given["input_schema"]):
        given["input_schema"] = schema.claude(given["input_schema"])
        given["strict"] = True
    return given | cache_control(tool.cache, target.profile)


def _choice(asked: Request, target: Target, lines: list[str], dropped: list[str]) -> Json:
    """`tool_choice`, or the line that stands for a force that the model refuses."""
    choice, alone = asked.tool_choice, asked.parallel_tool_calls is False
    if not asked.tools or (choice is None and not alone):
        return {}
    choice = choice or ToolChoice("auto")
    if choice.mode == "none":
        return {"tool_choice": {"type": "none"}}
    one = {"disable_parallel_tool_use": True} if alone else {}
    if choice.mode == "auto":
        return {"tool_choice": {"type": "auto", **one}}
    if target.profile.forced_tools == "never":
        dropped.append("tool_choice")
        lines.append(call_line(choice.name))
        return {"tool_choice": {"type": "auto", **one}}
    if choice.mode == "named":
        return {"tool_choice": {"type": "tool", "name": legal_name(choice.name or ""), **one}}
    return {"tool_choice": {"type": "any", **one}}


def call_line(name: str | None) -> str:
    """What a model is told that cannot be forced to call a tool."""
    if name is None:
        return "You must answer with a call of at least one of the tools."
    return f"You must answer with a call of the tool `{legal_name(name)}`."


def _format(asked: Request, target: Target, lines: list[str], dropped: list[str]) -> Json:
    """`output_config.format`, or the line that stands for what the model has no mode for."""
    wanted: AnswerFormat | None = asked.answer_format
    if wanted is None:
        return {}
    if wanted.kind == "json_object" or wanted.schema is None:
        lines.append(
            "Answer with one JSON object and nothing else: no code fence, no words around it."
        )
        return {}
    if target.profile.json_schema == "schema" and not schema.recursive(wanted.schema):
        return {"format": {"type": "json_schema", "schema": schema.claude(wanted.schema)}}
    dropped.append("response_format")
    text = json.encode(wanted.schema).decode()
    lines.append(f"Answer with JSON and nothing else; it must match this JSON schema: {text}")
    return {}


def _sampling(asked: Request, target: Target, thinks: bool, dropped: list[str]) -> Json:
    profile = target.profile
    refused = profile.refused(thinks=thinks)
    given = {"temperature": asked.temperature, "top_p": asked.top_p}
    given["top_k"] = asked.extra.get("top_k")
    out: Json = {}
    for name, value in given.items():
        if value is None:
            continue
        # Models that take both refuse them together (vendor, Claude 4.x).
        if name in refused or (name == "top_p" and "temperature" in out):
            dropped.append(name)
        else:
            out[name] = value
    if out.get("temperature", 0.0) > profile.temperature_max:
        out["temperature"] = profile.temperature_max
        dropped.append("temperature")
    return out


def _tier(asked: Request, target: Target, dropped: list[str]) -> Json:
    if asked.service_tier is None:
        return {}
    if "service_tier" in target.allows and asked.service_tier in ("auto", "standard_only"):
        return {"service_tier": asked.service_tier}
    dropped.append("service_tier")
    return {}
