"""A request that stays in this format: the caller's own bytes with a few fields changed.

Whatever is not named here passes byte for byte. Nothing of the input is changed; the same input
gives the same bytes.
"""

from typing import Any

from msgspec import Raw

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Ability, Inbound, Outbound, Target
from zurelay.formats.openai_chat import effort, history
from zurelay.formats.openai_chat.view import MOST_TEMPERATURE, given
from zurelay.wire import json

PATH = "/chat/completions"

KEPT_HERE = frozenset({"models", "user", "metadata", "safety_identifier"})
"""Fields that the gateway itself uses; never sent upstream, never reported as dropped."""

REWRITTEN = frozenset(
    {
        "model",
        "stream",
        "stream_options",
        "store",
        "max_tokens",
        "max_completion_tokens",
        "reasoning_effort",
    }
)
"""Fields that are written anew for each upstream."""

COSTLY = frozenset(
    {
        "service_tier",
        "modalities",
        "audio",
        "web_search_options",
        "search_parameters",
        "enable_search",
        "search_options",
        "plugins",
    }
)
"""Fields that change the price; they pass only where the catalogue prices what they ask for."""

_SET_ASIDE = KEPT_HERE | REWRITTEN
_TRUE = Raw(b"true")


def write(inbound: Inbound, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    profile = target.profile
    dropped: list[str] = []
    fields: dict[str, Any] = {"model": target.upstream_model}
    fields |= {
        name: raw for name, raw in inbound.body.items() if name not in _SET_ASIDE and given(raw)
    }
    _refuse(inbound, profile)
    stop = _drop(fields, inbound, target, dropped)
    if inbound.max_output is not None:
        _limit(fields, inbound.max_output, inbound, target, dropped)
    _sampling(fields, profile, dropped)
    before = len(dropped)
    lines = _tools(fields, inbound, target, dropped)
    in_words = dropped[before:]
    if lines or inbound.marks:
        fields["messages"], gone = history.edit(fields["messages"], inbound.marks, profile, lines)
        dropped += gone
    level = target.effort
    if level is not None:
        _lay_over(fields, effort.write(level, profile, inbound.max_output))
        level = effort.in_force(level, profile, inbound.max_output)
    changed = level != target.effort
    if changed:
        dropped.append("reasoning_effort")
    if target.cache_key is not None and "prompt_cache_key" in fields:
        fields["prompt_cache_key"] = target.cache_key
    if target.stream:
        _stream(fields, inbound, profile)
    for name, value in profile.adds.items():
        fields.setdefault(name, value)
    return Outbound(
        PATH,
        json.encode(fields),
        tuple(dict.fromkeys(dropped)) if dropped else (),
        stop=stop,
        effort=level if changed else None,
        json_text="response_format" in in_words,
        must_call="tool_choice" in in_words,
    )


def _refuse(inbound: Inbound, profile: Profile) -> None:
    """What this upstream cannot take and what must not be lost."""
    if inbound.choices > 1 and "n" in profile.refuses:
        raise Refused(
            problems.invalid_value("n", "This model gives one answer at a time: 'n' must be 1.")
        )
    if "file" in inbound.marks and not profile.file_parts:
        path = inbound.needs[Ability.PDF]
        told = f"This model's provider takes no files; '{path}' has one."
        raise Refused(problems.unsupported_content(path, told))
    if "remote_image" in inbound.marks and not profile.image_urls:
        path = inbound.needs[Ability.IMAGE]
        told = f"This model's provider fetches no images; send '{path}' as a data URL."
        raise Refused(problems.unsupported_content(path, told))


def _drop(
    fields: dict[str, Any], inbound: Inbound, target: Target, dropped: list[str]
) -> tuple[str, ...]:
    """Take out what the upstream refuses; returns the stop sequences left to us."""
    profile = target.profile
    store = inbound.body.get("store")
    if store is not None and bytes(store) == b"true":
        dropped.append("store")
    refused = profile.refused(thinks=target.thinks)
    costly = COSTLY - target.allows if target.allows else COSTLY
    stop = inbound.stop
    taken = 0 if "stop" in refused else min(len(stop), profile.stop_limit)
    if taken < len(stop) or "empty_stop" in inbound.marks:
        del fields["stop"]
        if taken:
            fields["stop"] = stop[:taken]
    fields_refused = [name for name in fields if name in refused or name in costly]
    for name in fields_refused:
        if name in ("model", "messages", "stop"):
            continue
        del fields[name]
        if name != "n":
            dropped.append(name)
    return stop[taken:]


def _limit(
    fields: dict[str, Any], limit: int, inbound: Inbound, target: Target, dropped: list[str]
) -> None:
    if target.max_output is not None and limit > target.max_output:
        limit = target.max_output
        new = inbound.body.get("max_completion_tokens")
        dropped.append("max_tokens" if new is None or not given(new) else "max_completion_tokens")
    fields[target.profile.token_limit_field] = limit


def _sampling(fields: dict[str, Any], profile: Profile, dropped: list[str]) -> None:
    bounded = profile.temperature_min > 0 or profile.temperature_max < MOST_TEMPERATURE
    if bounded and "temperature" in fields:
        asked = json.decode(fields["temperature"])
        held = min(max(asked, profile.temperature_min), profile.temperature_max)
        if held != asked:
            fields["temperature"] = held
            dropped.append("temperature")
    if "seed" in fields and profile.seed_field != "seed":
        fields[profile.seed_field] = fields.pop("seed")


def _tools(
    fields: dict[str, Any], inbound: Inbound, target: Target, dropped: list[str]
) -> list[str]:
    """Tools, forced choice and answer format; returns the lines that stand in for what is lost."""
    profile = target.profile
    lines: list[str] = []
    if "strict" in inbound.marks and not profile.strict_tools and "tools" in fields:
        fields["tools"] = _without_strict(json.decode(fields["tools"]), dropped)
    if Ability.FORCED_TOOL in inbound.needs and (
        profile.forced_tools == "never"
        or (profile.forced_tools == "not_thinking" and target.thinks)
    ):
        choice = json.decode(fields["tool_choice"])
        fields["tool_choice"] = "auto"
        dropped.append("tool_choice")
        lines.append(_call_line(choice))
    if "response_format" in fields:
        lines += _answer_format(fields, profile, dropped)
    return lines


def _without_strict(tools: list[dict[str, Any]], dropped: list[str]) -> list[dict[str, Any]]:
    asked = [tool.get("function", {}).pop("strict", None) for tool in tools]
    if any(asked):
        dropped.append("tools[].function.strict")
    return tools


def _call_line(choice: object) -> str:
    if isinstance(choice, dict):
        named = choice.get("function") or choice.get("custom") or {}
        return f"You must answer with a call of the tool `{named.get('name')}`."
    return "You must answer with a call of at least one of the tools."


def _answer_format(fields: dict[str, Any], profile: Profile, dropped: list[str]) -> list[str]:
    taken = profile.json_schema
    if taken == "schema" and profile.schema_with_tools:
        return []
    wanted = json.decode(fields["response_format"])
    kind = wanted["type"]
    if not profile.schema_with_tools and fields.get("tools") and kind != "text":
        taken = "none"
    if kind == "text" or (kind == "json_object" and taken != "none") or taken == "schema":
        return []
    dropped.append("response_format")
    if taken == "object":
        fields["response_format"] = {"type": "json_object"}
    else:
        del fields["response_format"]
    schema = (wanted.get("json_schema") or {}).get("schema")
    if schema is None:
        return ["Answer with one JSON object and nothing else."]
    text = json.encode(schema).decode()
    return [f"Answer with JSON and nothing else; it must match this JSON schema: {text}"]


def _lay_over(fields: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Set `wanted`; objects keep the caller's further keys."""
    for name, value in wanted.items():
        own = fields.get(name)
        if isinstance(value, dict) and isinstance(own, Raw):
            before = json.decode(own)
            fields[name] = {**before, **value} if isinstance(before, dict) else value
        else:
            fields[name] = value


def _stream(fields: dict[str, Any], inbound: Inbound, profile: Profile) -> None:
    fields["stream"] = _TRUE
    if not profile.asks_usage or "stream_options" in profile.refuses:
        return
    raw = inbound.body.get("stream_options")
    options = json.decode(raw) if inbound.stream and raw is not None and given(raw) else {}
    fields["stream_options"] = {**options, "include_usage": True}
