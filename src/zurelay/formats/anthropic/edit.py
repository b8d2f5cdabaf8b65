"""A request that stays in this format: the caller's own bytes with a few fields changed.

Whatever is not named here passes byte for byte. Nothing of the input is changed; the same input
gives the same bytes.
"""

from typing import Any

import msgspec
from msgspec import Raw

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.anthropic import VERSION, effort, envelope, turn_changes
from zurelay.formats.anthropic.block_checks import COSTLY_TOOLS
from zurelay.formats.anthropic.read import KEPT_HERE
from zurelay.formats.anthropic.request import PATH, call_line
from zurelay.formats.base import Ability, Inbound, Outbound, Target
from zurelay.formats.openai_chat.view import given
from zurelay.wire import json

Json = dict[str, Any]

COSTLY = frozenset({"service_tier", "speed", "inference_geo"})
"""Fields that change the price; they pass only where the catalogue prices them."""

_COUNTED = frozenset(
    {
        "model",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "cache_control",
    }
)
"""What the provider's endpoint for counting takes (vendor's API reference, 2026-11-29)."""

SAMPLING = ("temperature", "top_p", "top_k")
_REWRITTEN = frozenset({"model", "stream", "max_tokens"})
_SET_ASIDE = KEPT_HERE | _REWRITTEN
_TRUE = Raw(b"true")
_LISTS = msgspec.json.Decoder(list[Raw])
_OBJECT = msgspec.json.Decoder(dict[str, Raw])
_TOOL_SEARCH = {"advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19"}
"""What Bedrock and Vertex AI call the beta of tools that are loaded later, as Claude Code loads
those of MCP servers (litellm's table of betas, 2026-11-30)."""

_LEVELS_WHILE_OFF = ("low", "medium", "high")
"""Effort that models take whose thinking is switched off (vendor's page on effort, 2026-11-29)."""


def write(inbound: Inbound, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    profile = target.profile
    if "prefill" in inbound.marks and not profile.prefill and not _calls_last(inbound):
        told = (
            "This model cannot go on with an assistant's turn: the last message must be a user's."
        )
        raise Refused(problems.invalid_value("messages", told))
    _refuse_unpriced(inbound, target)
    dropped: list[str] = []
    fields: Json = {"model": target.upstream_model}
    fields |= {
        name: raw for name, raw in inbound.body.items() if name not in _SET_ASIDE and given(raw)
    }
    _limit(fields, inbound, target, dropped)
    for name in [name for name in fields if name in COSTLY - target.allows]:
        del fields[name]
        dropped.append(name)
    _thinking(fields, inbound, target, dropped)
    _sampling(fields, profile, dropped)
    if "foreign_thinking" in inbound.marks:
        fields["messages"] = _without_foreign(fields["messages"])
    turn_changes.settle(fields, inbound, target, dropped)
    refused = Ability.FORCED_TOOL in inbound.needs and profile.forced_tools == "never"
    if refused:
        _not_forced(fields, dropped)
    if not profile.long_cache:
        fields = _short_cached(fields)
    if target.stream:
        fields["stream"] = _TRUE
    headers = _headers(fields, inbound, profile, dropped)
    named = tuple(dict.fromkeys(dropped))
    return Outbound(PATH, json.encode(fields), named, headers, must_call=refused)


def write_count(inbound: Inbound, target: Target) -> Outbound:
    """The request that asks the provider for its own count of the prompt."""
    free = target.allows.union(COSTLY_TOOLS)  # nothing is run
    whole = write(inbound, msgspec.structs.replace(target, allows=free))
    fields = {name: raw for name, raw in json.fields(whole.body).items() if name in _COUNTED}
    return msgspec.structs.replace(whole, path=f"{PATH}/count_tokens", body=json.encode(fields))


def _refuse_unpriced(inbound: Inbound, target: Target) -> None:
    """A tool that the provider runs for a fee nobody knows here."""
    for name in COSTLY_TOOLS:
        if name in inbound.marks and name not in target.allows:
            told = f"'tools' has {name.replace('_', ' ')}, which this model has no price for here."
            raise Refused(problems.unsupported_content("tools", told))


def _calls_last(inbound: Inbound) -> bool:
    """Whether the last turn waits for results: the provider says what it thinks of that."""
    last = json.decode(_LISTS.decode(inbound.body["messages"])[-1])
    content = last["content"]
    return isinstance(content, list) and content[-1].get("type") == "tool_use"


def _limit(fields: Json, inbound: Inbound, target: Target, dropped: list[str]) -> None:
    limit = inbound.max_output
    if limit is None:
        return
    if target.max_output is not None and limit > target.max_output:
        limit = target.max_output
        dropped.append("max_tokens")
    fields["max_tokens"] = limit


def _thinking(fields: Json, inbound: Inbound, target: Target, dropped: list[str]) -> None:
    """Thinking and effort in the form that the model accepts; what it accepts stays as it is."""
    thinking: Json = json.decode(fields["thinking"]) if "thinking" in fields else {}
    config: dict[str, Raw] = (
        _OBJECT.decode(fields["output_config"]) if "output_config" in fields else {}
    )
    kind = thinking.get("type")
    if target.profile.effort_form == "claude_budget":
        _by_budget(fields, inbound, target, kind, dropped)
        changed: Json | None = {name: raw for name, raw in config.items() if name != "effort"}
    elif target.profile.effort_form == "claude_effort":
        changed = _adaptive(fields, target, thinking, config, dropped)
    else:
        changed = None if target.effort is None else _with_effort(config, target.effort)
    if changed is None or changed == config:
        return
    if changed:
        fields["output_config"] = changed
    else:
        fields.pop("output_config", None)


def _adaptive(
    fields: Json, target: Target, thinking: Json, config: dict[str, Raw], dropped: list[str]
) -> Json | None:
    """For models that take an effort; returns `output_config` if it must change."""
    level, profile, kind = target.effort, target.profile, thinking.get("type")
    if level is None:
        return None
    if level == "none":
        if kind != "disabled":  # asked for as an effort
            fields.pop("thinking", None)
            if profile.effort_off == "disabled":
                fields["thinking"] = {"type": "disabled"}
        return _while_off(config, profile, dropped)
    if kind == "enabled" and profile.budget_field:
        return _with_effort(config, level) if "effort" in config else None
    if kind in ("enabled", "disabled"):
        display = {"display": thinking["display"]} if "display" in thinking else {}
        fields["thinking"] = {"type": "adaptive", **display}
        dropped.append("thinking.type" if kind == "disabled" else "thinking.budget_tokens")
    return _with_effort(config, level)


def _while_off(config: dict[str, Raw], profile: Profile, dropped: list[str]) -> Json | None:
    if "effort" not in config:
        return None
    asked = json.decode(config["effort"])
    if asked in _LEVELS_WHILE_OFF:
        return None
    rest = {name: raw for name, raw in config.items() if name != "effort"}
    if asked == "none":
        return rest
    dropped.append("output_config.effort")
    return {**rest, "effort": "high"} if profile.effort_off == "disabled" else rest


def _with_effort(config: dict[str, Raw], level: str) -> Json:
    asked = config.get("effort")
    if asked is not None and json.decode(asked) == level:
        return dict(config)
    return {**config, "effort": level}


def _by_budget(
    fields: Json, inbound: Inbound, target: Target, kind: str | None, dropped: list[str]
) -> None:
    """For models that think by budget: the caller's own budget stays."""
    level = target.effort
    if level == "none" or (level is None and kind is None):
        if kind != "disabled":
            fields.pop("thinking", None)
        return
    if kind in ("enabled", "disabled"):
        return
    limit = fields.get("max_tokens", 0)
    forced = Ability.FORCED_TOOL in inbound.needs
    if forced or limit < 2 * effort.LEAST_BUDGET:
        fields.pop("thinking", None)
        dropped.append("output_config.effort" if level else "thinking.type")
        return
    if level is None:
        dropped.append("thinking.type")
    budget = effort.budget(level or "medium", limit)
    fields["thinking"] = {"type": "enabled", "budget_tokens": budget}


def _sampling(fields: Json, profile: Profile, dropped: list[str]) -> None:
    for name in SAMPLING:
        if name in fields and name in profile.refuses:
            del fields[name]
            dropped.append(name)
    if "temperature" in fields and json.decode(fields["temperature"]) > profile.temperature_max:
        fields["temperature"] = profile.temperature_max
        dropped.append("temperature")


def _without_foreign(raw: Raw) -> list[Any]:
    """The messages without thinking that Anthropic did not sign: it would be a 400.

    Each message that has none keeps its bytes.
    """
    messages: list[Any] = []
    for item in _LISTS.decode(raw):
        message = json.decode(item)
        content = message["content"]
        if not isinstance(content, list):
            messages.append(item)
            continue
        blocks = _LISTS.decode(_OBJECT.decode(item)["content"])
        kept = [
            block_raw
            for block_raw, block in zip(blocks, content, strict=True)
            if block["type"] != "thinking" or not envelope.is_foreign(block.get("signature") or "")
        ]
        if len(kept) == len(blocks):
            messages.append(item)
        elif kept:
            messages.append({**_OBJECT.decode(item), "content": kept})
    return messages


def _not_forced(fields: Json, dropped: list[str]) -> None:
    """The model refuses to be forced: it may choose, and is told in a line that goes last."""
    choice: Json = json.decode(fields["tool_choice"])
    name = choice.pop("name", None)
    fields["tool_choice"] = {**choice, "type": "auto"}
    dropped.append("tool_choice")
    line = {"role": "system", "content": call_line(name)}
    messages = fields["messages"]
    items: list[Any] = list(messages) if isinstance(messages, list) else _LISTS.decode(messages)
    fields["messages"] = [*items, line]


def _short_cached(value: Any) -> Any:
    """`value` without the `ttl` of its cache breakpoints."""
    if isinstance(value, Raw):
        if b'"ttl"' not in bytes(value):
            return value
        return _short_cached(json.decode(value))
    if isinstance(value, list):
        return [_short_cached(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {name: _short_cached(item) for name, item in value.items()}
    control = out.get("cache_control")
    if isinstance(control, dict):
        out["cache_control"] = {key: item for key, item in control.items() if key != "ttl"}
    return out


def _headers(
    fields: Json, inbound: Inbound, profile: Profile, dropped: list[str]
) -> tuple[tuple[str, str], ...]:
    """The version under which the body is legal, and the betas that are taken."""
    asked = inbound.headers.get("anthropic-version", VERSION)
    pinned = any(name in fields for name in SAMPLING)
    headers = [("anthropic-version", VERSION if pinned else asked)]
    names = [n.strip() for n in inbound.headers.get("anthropic-beta", "").split(",") if n.strip()]
    if profile.betas is not None and b'"defer_loading"' in json.encode(fields.get("tools")):
        names = [n if n in profile.betas else _TOOL_SEARCH.get(n, n) for n in names]
    taken = [name for name in names if profile.betas is None or name in profile.betas]
    if len(taken) < len(names):
        dropped.append("anthropic-beta")
    if taken:
        headers.append(("anthropic-beta", ",".join(dict.fromkeys(taken))))
    return tuple(headers)
