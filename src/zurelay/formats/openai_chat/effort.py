"""How an effort level is written on the wire, by the profile's form. Levels are clamped before."""

from typing import Any

from zurelay.chat.effort import BUDGETS, budget
from zurelay.chat.profile import Profile

Fields = dict[str, Any]


def in_force(level: str, profile: Profile, limit: int | None) -> str:
    """`level`, or `none` where its budget counts into a limit that has no room for both."""
    if profile.effort_form != "cohere_thinking" or level == "none":
        return level
    word = dict(profile.effort_words).get(level)
    return "none" if word is None and budget(level, limit=limit) is None else level


def write(level: str, profile: Profile, limit: int | None = None) -> Fields:
    """The request fields that ask for `level`; empty where there is no knob.

    An object among them is meant to be laid over one that the caller sent. `limit` is the token
    limit of the whole answer: budgets that count into it leave room for the answer.
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
        return {"thinking": _cohere(level, word, profile, limit)}
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


def _cohere(level: str, word: str | None, profile: Profile, limit: int | None) -> Fields:
    level = in_force(level, profile, limit)
    if level == "none":
        return {"type": "disabled"}
    thinking: Fields = {"type": "enabled", **profile.thinking_adds}
    if word is not None:
        return {**thinking, "token_budget": int(word)} if word.isdigit() else thinking
    return {**thinking, "token_budget": budget(level, limit=limit)}
