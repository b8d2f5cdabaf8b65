"""The short way for plain answers in which there is nothing to change but names and usage.

Most are such: one choice, some text, a finish reason and a usage that adds up. They are recognised
by a typed view that knows every field they may have; anything else is none of this module's and
takes the long way, which gives the same answer for these.
"""

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from zurelay.chat.estimate import weight
from zurelay.chat.usage import Usage
from zurelay.formats import service_tier
from zurelay.formats.base import AnswerContext, WholeAnswer
from zurelay.formats.openai_chat import usage as counts
from zurelay.formats.openai_chat.write import kept
from zurelay.formats.token_counts import MOST
from zurelay.wire import json


class _PromptDetails(Struct, forbid_unknown_fields=True, gc=False):
    cached_tokens: int = 0
    audio_tokens: Literal[0] | None = None


class _CompletionDetails(Struct, forbid_unknown_fields=True, gc=False):
    reasoning_tokens: int | None = None
    audio_tokens: Literal[0] | None = None
    accepted_prediction_tokens: int = 0
    rejected_prediction_tokens: int = 0


class _Usage(Struct, forbid_unknown_fields=True, gc=False):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Message(Struct, forbid_unknown_fields=True, gc=False):
    role: Literal["assistant"]
    content: str
    refusal: None = None
    annotations: Raw = Raw(b"null")


class _Choice(Struct, forbid_unknown_fields=True, gc=False):
    index: Literal[0]
    message: _Message
    finish_reason: Literal["stop", "length", "content_filter"]
    logprobs: None = None


class _Answer(Struct, gc=False):
    choices: tuple[_Choice]
    usage: _Usage
    error: None = None
    x_groq: None = None
    service_tier: str | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def whole(body: bytes, context: AnswerContext) -> WholeAnswer | None:
    """The answer if it is an ordinary one, else None. `body` has no blank space around it."""
    if context.stop or context.profile.think_tags or context.choices != 1 or context.json_text:
        return None
    try:
        answer = _decode(body)
        fields = json.upstream_fields(body)
    except (msgspec.MsgspecError, json.BadJson, UnicodeDecodeError):
        return None
    choice = answer.choices[0]
    usage = _usage(answer.usage, service_tier.used(answer.service_tier))
    if usage is None or not choice.message.content:
        return None
    out: dict[str, Any] = {
        "id": context.answer_id,
        "object": "chat.completion",
        "created": context.created,
        "model": context.model,
        **kept(fields),
        "choices": fields["choices"],
        "usage": counts.write(usage),
    }
    delivered = weight(choice.message.content)
    return WholeAnswer(json.encode(out), usage, choice.finish_reason, delivered)


def _usage(seen: _Usage, tier: str | None) -> Usage | None:
    """The count, if its parts add up; None leaves it to `usage.read`."""
    prompt, completion = seen.prompt_tokens, seen.completion_tokens
    cached = seen.prompt_tokens_details.cached_tokens if seen.prompt_tokens_details else 0
    details = seen.completion_tokens_details
    reasoning = details.reasoning_tokens if details else None
    if (
        seen.total_tokens != prompt + completion
        or not 0 <= cached <= prompt <= MOST
        or not 0 <= (reasoning or 0) <= completion <= MOST
    ):
        return None
    return Usage(
        input=prompt - cached,
        cached_input=cached,
        output=completion,
        reasoning=reasoning,
        tier=tier,
    )
