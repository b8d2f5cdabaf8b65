"""A Converse request for an upstream, written from the neutral form.

A pure function of its input. Fields and limits: vendor's API reference and service model,
2026-11-29. What Converse has no field for goes to the model as `additionalModelRequestFields`.
"""

import re
from typing import Any
from urllib.parse import quote

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.chat.request import Request
from zurelay.formats import cache_marks, json_call, schema
from zurelay.formats.anthropic import effort as claudes
from zurelay.formats.anthropic.effort import Thought
from zurelay.formats.base import Outbound, Target
from zurelay.formats.converse import effort, is_claude, tools
from zurelay.formats.converse.messages import Writer
from zurelay.formats.reported import reported
from zurelay.formats.tool_names import renamed
from zurelay.wire import json

Json = dict[str, Any]

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

LIMIT = 8192
LIMIT_THINKING = 32_768
"""Claude's limits where the caller gave none; other models have their own."""

_AMAZON = re.compile(r"(?:^|\.)(?:amazon|anthropic)\.")
_TIERS = frozenset({"default", "flex", "priority"})
_NAMES = (("temperature", "temperature"), ("top_p", "topP"))


def write(asked: Request, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    if asked.n > 1:
        told = "This model gives one answer at a time: 'n' must be 1."
        raise Refused(problems.invalid_value("n", told))
    profile = target.profile
    as_call = json_call.instead(asked, profile, _may_think(target))
    asked = as_call or asked
    if cache_marks.wanted(asked, profile):
        goes_on = cache_marks.goes_on(asked)
        asked = cache_marks.start_marked(asked)
        asked = cache_marks.end_marked(asked) if goes_on else asked
    dropped = [name for name in DROPS if getattr(asked, name) is not None]
    # Only models of Anthropic and Amazon know results that are errors (vendor, 2026-11).
    marks_errors = is_claude(profile) or _AMAZON.search(target.upstream_model) is not None
    writer = Writer(profile, dropped, marks_errors=marks_errors)
    messages = writer.messages(asked.turns)
    thought = _thought(asked, target, writer)
    used = _used(thought, target)
    if used is not None:
        dropped.append("reasoning_effort")
    chosen = tools.write(asked, target, writer.calls, thought.thinks, dropped)
    output, lines = _output(asked, target, dropped)
    _add(lines + chosen.lines, messages, writer.system)
    stops = tuple(stop for stop in asked.stop if stop.strip())[: profile.stop_limit]
    # Nova takes no sampling at its highest effort, Claude none while it thinks.
    fixed = effort.is_nova(target) and thought.effort == "high"
    fixed |= is_claude(profile) and thought.thinks
    config = _limit(asked, target, dropped)
    config |= _sampling(asked, target, thought.thinks, fixed, dropped)
    own = _own_fields(thought, target) | _top_k(asked, target, thought.thinks) | chosen.fields
    if stops:
        config["stopSequences"] = stops
    fields = {
        "system": writer.system,
        "inferenceConfig": config,
        "toolConfig": chosen.config,
        "additionalModelRequestFields": own,
        "outputConfig": output,
        "serviceTier": _tier(asked, target, dropped),
    }
    body: Json = {"messages": messages} | {name: value for name, value in fields.items() if value}
    dropped += reported(name for name in asked.extra if name not in own)
    return Outbound(
        path(target, "converse-stream" if target.stream else "converse"),
        json.encode(body),
        tuple(dict.fromkeys(dropped)),
        stop=tuple(stop for stop in asked.stop if stop not in stops),
        effort=used,
        tool_names=renamed((tool.name for tool in asked.tools), tools.LONGEST_NAME),
        json_text=as_call is not None or (asked.answer_format is not None and not output),
        must_call="tool_choice" in dropped,
        json_call=as_call is not None,
    )


def path(target: Target, operation: str) -> str:
    """The path of an operation; the model's id or ARN is one segment of it."""
    model = quote(target.upstream_model, safe="")
    return f"/model/{model}/{operation}"


def _may_think(target: Target) -> bool:
    if is_claude(target.profile):
        return claudes.may_think(target)
    return (target.effort or target.effort_default or "none") != "none"


def _thought(asked: Request, target: Target, writer: Writer) -> Thought:
    if not is_claude(target.profile):
        level = effort.level_for(target, asked.max_output is not None)
        thinks = (level or target.effort_default) not in (None, "none")
        return Thought(effort=level, thinks=thinks)
    forced = bool(asked.tools) and asked.tool_choice is not None
    forced = forced and asked.tool_choice.mode in ("required", "named")  # type: ignore[union-attr]
    obstacle = writer.bare_calls or writer.prefill or forced
    return claudes.ask(target, _claudes_limit(asked, target), obstacle)


def _used(thought: Thought, target: Target) -> str | None:
    """The level in force where it is not the one asked for."""
    if thought.refused:
        return "none"
    lowered = effort.is_nova(target) and thought.effort == "medium"
    return "medium" if lowered and target.effort in ("high", "xhigh", "max") else None


def _own_fields(thought: Thought, target: Target) -> Json:
    """Thinking and effort in the model's own words."""
    if not is_claude(target.profile):
        return effort.fields(thought.effort, target)
    thinking: Json = {} if thought.thinking is None else {"thinking": thought.thinking}
    if thought.effort is None:
        return thinking
    return {**thinking, "output_config": {"effort": thought.effort}}


def _claudes_limit(asked: Request, target: Target) -> int:
    wanted = asked.max_output
    if wanted is None:
        wanted = LIMIT_THINKING if claudes.may_think(target) else LIMIT
    return wanted if target.max_output is None else min(wanted, target.max_output)


def _limit(asked: Request, target: Target, dropped: list[str]) -> Json:
    wanted, most = asked.max_output, target.max_output
    if wanted is not None and most is not None and wanted > most:
        dropped.append("max_tokens")
        wanted = most
    if is_claude(target.profile):
        wanted = _claudes_limit(asked, target)
    return {} if wanted is None else {"maxTokens": wanted}


def _sampling(
    asked: Request, target: Target, thinks: bool, fixed: bool, dropped: list[str]
) -> Json:
    profile = target.profile
    refused = profile.refused(thinks=thinks)
    claude = is_claude(profile)
    out: Json = {}
    for name, here in _NAMES:
        value = getattr(asked, name)
        if value is None:
            continue
        # Claude does not take both at once (vendor, Claude 4.x).
        if name in refused or fixed or (claude and out):
            dropped.append(name)
            continue
        if name == "temperature" and value > profile.temperature_max:
            dropped.append(name)
            value = profile.temperature_max
        out[here] = value
    return out


def _top_k(asked: Request, target: Target, thinks: bool) -> Json:
    """Claude's own name for it; what other models call it is not known here."""
    value = asked.extra.get("top_k")
    if (
        value is None
        or thinks
        or not is_claude(target.profile)
        or "top_k" in target.profile.refuses
    ):
        return {}
    return {"top_k": value}


def _output(asked: Request, target: Target, dropped: list[str]) -> tuple[Json, list[str]]:
    """`outputConfig`, or the line that stands for what the model has no mode for."""
    wanted = asked.answer_format
    if wanted is None:
        return {}, []
    if wanted.kind == "json_object" or wanted.schema is None:
        return {}, [
            "Answer with one JSON object and nothing else: no code fence, no words around it."
        ]
    if target.profile.json_schema == "schema" and not schema.recursive(wanted.schema):
        told = {"name": wanted.name, "description": wanted.description}
        definition = {
            "schema": json.encode(schema.claude(wanted.schema)).decode(),
            **{name: value for name, value in told.items() if value},
        }
        return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}}, []
    dropped.append("response_format")
    text = json.encode(wanted.schema).decode()
    return {}, [f"Answer with JSON and nothing else; it must match this JSON schema: {text}"]


def _add(lines: list[str], messages: list[Json], system: list[Json]) -> None:
    """Instructions of our own, after all that the caller said."""
    last = messages[-1]
    for line in lines:
        if last["role"] == "assistant":
            system.append({"text": line})
        else:
            last["content"].append({"text": f"<system>{line}</system>"})


def _tier(asked: Request, target: Target, dropped: list[str]) -> Json:
    tier = asked.service_tier
    if tier is None:
        return {}
    if "service_tier" in target.allows and tier in _TIERS:
        return {"type": tier}
    dropped.append("service_tier")
    return {}
