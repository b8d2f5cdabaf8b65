"""How a level of effort is told to the labs behind Converse, each in its own words.

One provider runs models of many labs, and what is not Converse's own passes to them as it is: the
lab stands in the model's id. Sources: vendor's pages on Nova 2, langchain-aws #1188, opencode
#48195 (tried on the running service), 2026-11-29. Claude's words stand with its own format.
"""

import re
from typing import Any

from zurelay.formats.base import Target

Json = dict[str, Any]

_GPT = re.compile(r"(?:^|\.)openai\.(?!gpt-oss)")
_NOVA = re.compile(r"(?:^|\.)amazon\.nova-2")
_NOVAS = {"minimal": "low", "xhigh": "high", "max": "high"}


def is_nova(target: Target) -> bool:
    """Whether it is a model of Amazon's that can think."""
    return _NOVA.search(target.upstream_model) is not None


def level_for(target: Target, limited: bool) -> str | None:
    """The level to ask for; `limited`: the answer has a token limit of the caller's.

    Nova 2 takes no limit at its highest effort: the limit is what the caller insists on.
    """
    level = target.effort
    if level is None or not is_nova(target):
        return level
    word = _NOVAS.get(level, level)
    return "medium" if word == "high" and limited else word


def fields(level: str | None, target: Target) -> Json:
    """The fields of the model's own that ask for `level`; empty where there is no knob."""
    profile = target.profile
    if level is None or profile.effort_form == "nothing":
        return {}
    if is_nova(target):
        # It does not think unless told to.
        on = {"type": "enabled", "maxReasoningEffort": level}
        return {} if level == "none" else {"reasoningConfig": on}
    word = dict(profile.effort_words).get(level, level)
    if not word:
        return {}
    if profile.effort_form == "reasoning_object" or _GPT.search(target.upstream_model):
        return {"reasoning": {"effort": word}}
    return {"reasoning_effort": word}
