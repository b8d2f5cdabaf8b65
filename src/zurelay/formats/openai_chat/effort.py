"""How an effort level is written on the wire, by the profile's form. Levels are clamped before."""

from typing import Any

from zurelay.chat.profile import Profile

BUDGETS = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 24576,
    "max": 32768,
}
"""Thinking tokens for hosts that take a budget, where the profile gives no words of its own."""

Fields = dict[str, Any]


def write(level: str, profile: Profile) -> Fields:
    """The request fields that ask for `level`; empty where there is no knob.

    An object among them is meant to be laid over one that the caller sent.
    """
    form = profile.effort_form
    on = level != "none"
    if not on and profile.effort_off == "omit":
        return {}
    if not on and profile.effort_off == "disabled":
        return {"thinking": {"type": "disabled"}}
    word = dict(profile.effort_words).get(level)
    if form == "reasoning_effort":
        return _effort(level, word, profile)
    if form == "reasoning_object":
        return {"reasoning": {"enabled": on} if word == "" else {"effort": word or level}}
    if form == "thinking_type":
        thinking = {"type": "enabled" if on else "disabled", **profile.thinking_adds}
        return {"thinking": thinking, **(_effort(level, word, profile) if on else {})}
    if form == "cohere_thinking":
        return {"thinking": _cohere(level, word, profile)}
    if form == "enable_thinking":
        return {"enable_thinking": on, **(_budget(level, word, profile) if on else {})}
    switch: Fields = {}
    if form == "reasoning_enabled":
        switch = {"reasoning": {"enabled": on}}
    elif form == "template_kwargs":
        switch = {"chat_template_kwargs": {"enable_thinking": on}}
    else:
        return {}
    return {**switch, **(_effort(level, word, profile) if on else {})}


def _effort(level: str, word: str | None, profile: Profile) -> Fields:
    if word is None:
        return {"reasoning_effort": level}
    if word.isdigit() and profile.budget_field:
        return {profile.budget_field: int(word)}
    return {"reasoning_effort": word} if word else {}


def _budget(level: str, word: str | None, profile: Profile) -> Fields:
    if word is not None:
        return _effort(level, word, profile)
    return {profile.budget_field or "thinking_budget": BUDGETS[level]}


def _cohere(level: str, word: str | None, profile: Profile) -> Fields:
    if level == "none":
        return {"type": "disabled"}
    thinking: Fields = {"type": "enabled", **profile.thinking_adds}
    if word is None or word.isdigit():
        thinking["token_budget"] = int(word) if word else BUDGETS[level]
    return thinking
