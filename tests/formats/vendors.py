"""What each vendor's API takes as reasoning effort, told from its documentation, not from our rows.

`level_told` reads a request as the vendor would: the level it asks for, or `Refused` with what
the vendor's 400 would be about.
"""

import re
from typing import Any

Json = dict[str, Any]

_EFFORT_FIELDS = frozenset(
    {
        "reasoning_effort",
        "reasoning",
        "thinking",
        "enable_thinking",
        "thinking_budget",
        "chat_template_kwargs",
        "output_config",
    }
)


class VendorRefuses(Exception):  # noqa: N818 - it stands for a 400
    """The vendor would answer 400."""


def level_told(vendor: str, model: str, path: str, body: Json) -> str | int | None:
    """The level a request asks for, or its budget of tokens; None if it leaves that to the vendor.

    Raises:
        VendorRefuses: the vendor would.
    """
    if vendor == "openai":
        return _openai(model, path, body)
    if vendor == "anthropic":
        return _anthropic(model, body)
    if vendor == "google":
        return _google(model, body)
    given = {name: body[name] for name in _EFFORT_FIELDS & body.keys()}
    reader = _READERS.get(vendor, _word)
    return reader(model.rpartition("/")[2].lower(), given)


def _only(given: Json, *names: str) -> None:
    for name in given:
        if name not in names:
            raise VendorRefuses(f"unknown field {name}")


def _openai(model: str, path: str, body: Json) -> str | None:
    newest = model.startswith(("gpt-5.6", "gpt-6"))
    if path == "/responses":
        if "reasoning_effort" in body or body.get("store") is not False:
            raise VendorRefuses("reasoning_effort is a field of Chat Completions")
        told: str | None = body.get("reasoning", {}).get("effort")
        if told == "none" and "include" in body:
            raise VendorRefuses("encrypted thinking of a model that does not think")
        return told
    if any(word in model for word in ("-pro", "codex", "-cyber")):
        raise VendorRefuses("only by /responses")
    if "reasoning" in body:
        raise VendorRefuses("reasoning is a field of Responses")
    level: str | None = body.get("reasoning_effort")
    if level == "max":
        raise VendorRefuses("max only by /responses")
    thinks = level != "none" and not (level is None and model.startswith("gpt-5.4"))
    if body.get("tools") and thinks and (newest or model.startswith(("gpt-5.4", "gpt-5.5"))):
        raise VendorRefuses("Function tools with reasoning_effort are not supported")
    return level


def _anthropic(model: str, body: Json) -> str | int | None:
    thinking = body.get("thinking")
    effort: str | None = body.get("output_config", {}).get("effort")
    if thinking is None:
        return effort
    kind = thinking["type"]
    if re.search("-4-5|-4-1|-4-0|-3-", model):
        tokens: int = thinking.get("budget_tokens", 0)
        if kind != "enabled" or not 1024 <= tokens < body["max_tokens"]:
            raise VendorRefuses("budget_tokens")
        if body.get("temperature", 1) != 1 or body.get("tool_choice", {}).get("type") == "any":
            raise VendorRefuses("not while thinking")
        return tokens
    if "budget_tokens" in thinking or kind == "enabled":
        raise VendorRefuses("thinks adaptively")
    if kind == "disabled":
        if re.search("opus-5-5|sonnet-5-5|fable|mythos", model) or effort in ("xhigh", "max"):
            raise VendorRefuses("always thinks")
        return "none"
    return effort


def _google(model: str, body: Json) -> str | int | None:
    config = body.get("generationConfig", {}).get("thinkingConfig", {})
    if model.startswith("gemini-2"):
        tokens: int | None = config.get("thinkingBudget")
        if "thinkingLevel" in config or (tokens == 0 and "pro" in model):
            raise VendorRefuses("thinkingConfig")
        return "none" if tokens == 0 else tokens
    if "thinkingBudget" in config:
        raise VendorRefuses("thinkingBudget")
    level: str | None = config.get("thinkingLevel")
    return None if level is None else level.lower()


def _word(_model: str, given: Json) -> str | None:
    _only(given, "reasoning_effort")
    word: str | None = given.get("reasoning_effort")
    return word


def _groq(model: str, given: Json) -> str | None:
    word = _word(model, given)
    if model.startswith("qwen3.6"):
        if word not in (None, "none", "default"):
            raise VendorRefuses("must be one of none, default")
        return "high" if word == "default" else word
    if model.startswith("gpt-oss") and word == "none":
        raise VendorRefuses("none")
    return word


def _deepseek(_model: str, given: Json) -> str | None:
    _only(given, "reasoning_effort", "thinking")
    if "thinking" not in given:
        return None
    if given["thinking"] == {"type": "disabled"}:
        if "reasoning_effort" in given:
            raise VendorRefuses("effort without thinking")
        return "none"
    word: str | None = given.get("reasoning_effort")
    if given["thinking"] != {"type": "enabled"} or word not in (None, "low", "high", "max"):
        raise VendorRefuses("thinking")
    return word


def _moonshot(model: str, given: Json) -> str | None:
    if model.startswith("kimi-k2.7"):
        _only(given)
        return None
    if model.startswith("kimi-k2"):
        _only(given, "thinking")
        kind = given.get("thinking", {}).get("type")
        return {"enabled": "high", "disabled": "none", None: None}[kind]
    _only(given, "reasoning_effort")
    word: str | None = given.get("reasoning_effort")
    if word not in (None, "low", "high", "max"):
        raise VendorRefuses(str(word))
    return word


def _zai(model: str, given: Json) -> str | None:
    _only(given, "reasoning_effort", "thinking")
    if "thinking" not in given:
        return None
    if given["thinking"].get("type") == "disabled":
        if model.startswith("glm-5.3"):
            raise VendorRefuses("always thinks")
        return "none"
    if given["thinking"] != {"type": "enabled", "clear_thinking": False}:
        raise VendorRefuses("thinking")
    if model.startswith(("glm-4", "glm-5-")):
        _only(given, "thinking")
        return "high"
    word: str | None = given.get("reasoning_effort")
    return word


def _together(model: str, given: Json) -> str | None:
    if model.startswith("gpt-oss"):
        return _word(model, given)
    _only(given, "reasoning", "reasoning_effort")
    if "reasoning" not in given:
        return None
    if not given["reasoning"]["enabled"]:
        _only(given, "reasoning")
        return "none"
    return str(given.get("reasoning_effort", "high"))


def _openrouter(_model: str, given: Json) -> str | None:
    _only(given, "reasoning")
    if "reasoning" not in given:
        return None
    if given["reasoning"] == {"enabled": True}:
        return "high"
    word: str = given["reasoning"]["effort"]
    return word


_READERS = {
    "groq": _groq,
    "deepseek": _deepseek,
    "moonshot": _moonshot,
    "zai": _zai,
    "together": _together,
    "openrouter": _openrouter,
}
