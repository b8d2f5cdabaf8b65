"""A generateContent request for an upstream, written from the neutral form.

A pure function. Field names are the JSON ones of the vendor's API reference, 2026-11-29.
"""

import re
from typing import Any

from zurelay.chat import problems
from zurelay.chat.effort import budget
from zurelay.chat.problems import Refused
from zurelay.chat.request import AnswerFormat, Request, Tool, ToolChoice
from zurelay.formats import schema as schemas
from zurelay.formats.base import Outbound, Target
from zurelay.formats.gemini import names
from zurelay.formats.gemini.contents import Conversation, conversation
from zurelay.formats.reported import reported
from zurelay.wire import json

Json = dict[str, Any]

DROPS = ("logit_bias", "logprobs", "top_logprobs", "verbosity", "prompt_cache_key")
"""What this format has no place for, or what its answers are not read for."""

_MODEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@-]{0,127}")
_SAMPLING = (
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("seed", "seed"),
    ("presence_penalty", "presencePenalty"),
    ("frequency_penalty", "frequencyPenalty"),
)
_EXTRA = (("top_k", "topK", int | float),)
"""Fields beyond the common ones that callers know and this format has."""

_LEAST_BUDGET = 512
"""The smallest that every model takes."""

_TIERS = {"default": "standard", "standard": "standard", "flex": "flex", "priority": "priority"}


def write(asked: Request, target: Target) -> Outbound:
    """The upstream request; raises Refused where it cannot be written."""
    profile = target.profile
    if asked.n > 1 and "n" in profile.refuses:
        told = "This model gives one answer at a time: 'n' must be 1."
        raise Refused(problems.invalid_value("n", told))
    dropped = [name for name in DROPS if getattr(asked, name) is not None]
    form, lines = _answer_format(asked, target, dropped)
    told_turns = conversation(asked.turns, profile, lines)
    _check_end(told_turns, target)
    dropped += told_turns.dropped
    body: Json = {"contents": told_turns.contents}
    if told_turns.system:
        body["systemInstruction"] = {"parts": told_turns.system}
    body |= _tools(asked, target, dropped)
    moved: set[str] = set()
    taken = 0 if "stop" in profile.refuses else profile.stop_limit
    limit = _limit(asked, target, dropped)
    config = {
        **limit,
        **_sampling(asked, target, dropped, moved),
        **({"candidateCount": asked.n} if asked.n > 1 else {}),
        **({"stopSequences": list(asked.stop[:taken])} if asked.stop[:taken] else {}),
        **form,
        **_thinking(target, limit.get("maxOutputTokens")),
    }
    if config:
        body["generationConfig"] = config
    body |= _safety(asked, moved)
    body |= _tier(asked, target, dropped)
    dropped += reported(name for name in asked.extra if name not in moved)
    return Outbound(
        _path(target),
        json.encode(body),
        tuple(dict.fromkeys(dropped)),
        stop=asked.stop[taken:],
        tool_names=names.renamed(tool.name for tool in asked.tools),
        json_text=bool(lines),
    )


def _path(target: Target) -> str:
    """The model is part of the path: a name that could lead elsewhere is none."""
    if not _MODEL.fullmatch(target.upstream_model):
        told = f"The model '{target.public_model}' is configured under a name that is none."
        raise Refused(problems.invalid_value("model", told))
    method = "streamGenerateContent?alt=sse" if target.stream else "generateContent"
    return f"{target.profile.path_prefix}/models/{target.upstream_model}:{method}"


def _check_end(told: Conversation, target: Target) -> None:
    if told.ends_with_model and not target.profile.prefill:
        said = "This model does not go on with a turn of its own: end with a user message."
        raise Refused(problems.invalid_value("messages", said))


def _limit(asked: Request, target: Target, dropped: list[str]) -> Json:
    """The limit includes thinking here, as it does for callers."""
    limit = asked.max_output
    if limit is None:
        return {}
    held = limit if target.max_output is None else min(limit, target.max_output)
    if held != limit:
        dropped.append("max_completion_tokens")
    return {"maxOutputTokens": held}


def _sampling(asked: Request, target: Target, dropped: list[str], moved: set[str]) -> Json:
    profile = target.profile
    refused = profile.refused(thinks=target.thinks)
    out: Json = {}
    for name, here in _SAMPLING:
        value = getattr(asked, name)
        if value is None:
            continue
        if name in refused:
            dropped.append(name)
            continue
        if name == "temperature":
            held = min(max(value, profile.temperature_min), profile.temperature_max)
            if held != value:
                dropped.append(name)
            value = held
        out[here] = value
    for name, here, kind in _EXTRA:
        value = asked.extra.get(name)
        if isinstance(value, kind) and not isinstance(value, bool) and name not in refused:
            out[here] = value
            moved.add(name)
    return out


def _answer_format(asked: Request, target: Target, dropped: list[str]) -> tuple[Json, list[str]]:
    """The fields that demand the format, and the lines that stand in for what cannot be."""
    wanted, profile = asked.answer_format, target.profile
    if wanted is None:
        return {}, []
    taken = profile.json_schema
    if asked.tools and not profile.schema_with_tools:
        taken = "none"
    mode = {} if taken == "none" else {"responseMimeType": "application/json"}
    if wanted.kind == "json_schema" and taken == "schema":
        return {**mode, "responseJsonSchema": schemas.gemini(wanted.schema or {})}, []
    if wanted.kind == "json_object" and mode:
        return mode, []
    dropped.append("response_format")
    return mode, [_json_line(wanted)]


def _json_line(wanted: AnswerFormat) -> str:
    if wanted.schema is None:
        return "Answer with one JSON object and nothing else."
    schema = json.encode(wanted.schema).decode()
    return f"Answer with JSON and nothing else; it must match this JSON schema: {schema}"


def _tools(asked: Request, target: Target, dropped: list[str]) -> Json:
    """All functions stand in one tool."""
    if not asked.tools:
        return {}
    if asked.parallel_tool_calls is False:
        dropped.append("parallel_tool_calls")
    out: Json = {"tools": [{"functionDeclarations": [_function(tool) for tool in asked.tools]}]}
    strict = target.profile.strict_tools and any(tool.strict for tool in asked.tools)
    config = _calling(asked.tool_choice, strict)
    return {**out, "toolConfig": {"functionCallingConfig": config}} if config else out


def _function(tool: Tool) -> Json:
    out: Json = {"name": names.legal(tool.name)}
    if tool.description is not None:
        out["description"] = tool.description
    if tool.parameters and not _takes_nothing(tool):
        out["parametersJsonSchema"] = schemas.gemini(tool.parameters)
    return out


def _takes_nothing(tool: Tool) -> bool:
    """An object without properties is refused; a function without parameters is not."""
    schema = tool.parameters or {}
    return (
        schema.get("type") == "object"
        and not schema.get("properties")
        and not (
            schema.keys() & {"$ref", "anyOf", "oneOf", "allOf"}
            or schema.get("additionalProperties")
        )
    )


def _calling(choice: ToolChoice | None, strict: bool) -> Json:
    """`VALIDATED` is `AUTO` with arguments held to their schemas."""
    match choice:
        case ToolChoice("none"):
            return {"mode": "NONE"}
        case ToolChoice("required"):
            return {"mode": "ANY"}
        case ToolChoice("named", name):
            return {"mode": "ANY", "allowedFunctionNames": [names.legal(name or "")]}
        case ToolChoice():
            return {"mode": "VALIDATED" if strict else "AUTO"}
        case None:
            pass
    return {"mode": "VALIDATED"} if strict else {}


def _thinking(target: Target, limit: int | None) -> Json:
    """The level or the budget, never both, and the thinking wherever it is shared."""
    config: Json = {}
    level, form = target.effort, target.profile.effort_form
    if level is not None:
        word = dict(target.profile.effort_words).get(level)
        if form == "gemini_budget":
            config["thinkingBudget"] = _budget(level, word, limit)
        elif form == "gemini_level" and (word or level != "none"):
            config["thinkingLevel"] = (word or level).upper()
    known = target.reasons or (level or target.effort_default) is not None
    if known and target.thinks and target.profile.thinking_summary:
        config["includeThoughts"] = True  # a 400 where the model cannot think
    return {"thinkingConfig": config} if config else {}


def _budget(level: str, word: str | None, limit: int | None) -> int:
    """Counts into the limit, so it leaves room for the answer."""
    if word and word.isdigit():
        return int(word)
    return 0 if level == "none" else budget(level, limit=limit) or _LEAST_BUDGET


def _safety(asked: Request, moved: set[str]) -> Json:
    """Callers write it as Google's own clients for other languages do."""
    for name in ("safety_settings", "safetySettings"):
        if isinstance(asked.extra.get(name), list):
            moved.add(name)
            return {"safetySettings": asked.extra[name]}
    return {}


def _tier(asked: Request, target: Target, dropped: list[str]) -> Json:
    if asked.service_tier is None:
        return {}
    tier = _TIERS.get(asked.service_tier)
    if tier is None or "service_tier" not in target.allows:
        dropped.append("service_tier")
        return {}
    return {"serviceTier": tier}
