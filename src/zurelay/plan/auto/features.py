"""What a request looks like, as far as it is cheap to see: size, turns, code, tools, script.

Looks at no more than samples of the caller's own bytes. It does not know models or tiers.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Raw, Struct

from zurelay.chat.estimate import prompt_tokens
from zurelay.formats.base import Ability, Inbound
from zurelay.plan.latency import LARGE

Kind = Literal["chat", "code", "extraction", "long document", "agent", "vision"]

MANY_TURNS: Final = 10
"""Messages from which a conversation is long."""

AGENT_TURNS: Final = 4
"""Messages from which a request with tools is a step of an agent's loop."""

_CONVERSATION: Final = ("messages", "input")
"""Where a front's body has it."""

_SAMPLE: Final = 2048
"""Bytes at each end of it in which code and script are looked for."""

_CODE: Final = (
    b"```",
    b"();",
    b"def ",
    b"class ",
    b"import ",
    b"function ",
    b"return ",
    b"const ",
    b"#include",
    b"SELECT ",
    b"Traceback",
    b") {",
    b"=> ",
    b"</",
)
"""Marks of code. A fence is enough; of the others it takes two."""

_MEDIA: Final = (Ability.IMAGE, Ability.PDF, Ability.AUDIO, Ability.VIDEO)
_SEEN: Final = frozenset({"image", "video"})

_ASCII: Final = bytes(range(128))
_LATIN_LEADS: Final = bytes(range(0xC2, 0xCA))
"""First bytes of Latin letters with marks, in UTF-8."""
_TRAILS: Final = bytes(range(0x80, 0xC0))
_OTHER_SCRIPT: Final = 8
"""One in so many characters of another script makes the text one of that script."""


class Features(Struct, frozen=True):
    """What the choice goes by.

    Attributes:
        kind: of the request, for how long answers are expected to be.
        tokens: estimate of the prompt.
        output: the token limit asked for; None for none.
        choices: answers asked for.
        effort: the word asked for; None for none.
        turns: messages of any role, or items, calls and their results among them.
        code: the conversation has code in it.
        tools: tools come with it.
        schema: the answer must fit a JSON schema.
        forced: a call is forced.
        media: kinds of parts that are not text.
        script: `other` where a good part of the text is in no Latin script.
    """

    kind: Kind
    tokens: int
    output: int | None = None
    choices: int = 1
    effort: str | None = None
    turns: int = 1
    code: bool = False
    tools: bool = False
    schema: bool = False
    forced: bool = False
    media: tuple[str, ...] = ()
    script: Literal["latin", "other"] = "latin"

    @property
    def long(self) -> bool:
        """Whether the prompt is a large one."""
        return self.tokens >= LARGE

    @property
    def agent(self) -> bool:
        """Whether it is a step of an agent's loop."""
        return self.tools and self.turns >= AGENT_TURNS


def features(inbound: Inbound) -> Features:
    """What that request looks like."""
    needs = inbound.needs
    sample = _sample(inbound.body)
    media = tuple(ability.value for ability in _MEDIA if ability in needs) if needs else ()
    tokens = prompt_tokens(inbound.text_length, inbound.media_count)
    turns = inbound.turns
    code = _has_code(sample)
    tools = Ability.TOOLS in needs
    schema = Ability.JSON_SCHEMA in needs
    return Features(
        kind=_kind(tokens, turns, media, code=code, tools=tools, schema=schema),
        tokens=tokens,
        output=inbound.max_output,
        choices=inbound.choices,
        effort=inbound.effort,
        turns=turns,
        code=code,
        tools=tools,
        schema=schema,
        forced=Ability.FORCED_TOOL in needs,
        media=media,
        script=_script(sample),
    )


def _kind(
    tokens: int, turns: int, media: tuple[str, ...], *, code: bool, tools: bool, schema: bool
) -> Kind:
    if tools and turns >= AGENT_TURNS:
        return "agent"
    if not _SEEN.isdisjoint(media):
        return "vision"
    if schema:
        return "extraction"
    if tokens >= LARGE:
        return "long document"
    return "code" if code else "chat"


def _sample(body: Mapping[str, Raw]) -> bytes:
    """The beginning and the end of the conversation's bytes; the whole of a short one."""
    raw = body.get(_CONVERSATION[0]) or body.get(_CONVERSATION[1])
    if raw is None:
        return b""
    view = memoryview(raw)
    if view.nbytes <= 2 * _SAMPLE:
        return bytes(view)
    return bytes(view[:_SAMPLE]) + bytes(view[-_SAMPLE:])


def _has_code(sample: bytes) -> bool:
    if _CODE[0] in sample:
        return True
    found = 0
    for mark in _CODE[1:]:
        if mark in sample:
            found += 1
            if found == 2:
                return True
    return False


def _script(sample: bytes) -> Literal["latin", "other"]:
    """Whether characters beyond Latin letters are many; JSON may have them escaped."""
    escaped = sample.count(b"\\u") - sample.count(b"\\u00") - sample.count(b"\\u20")
    other = 0
    if not sample.isascii():
        other = len(sample.translate(None, _ASCII + _LATIN_LEADS + _TRAILS))
    characters = len(sample) - 5 * max(0, escaped) - other
    return "other" if (escaped + other) * _OTHER_SCRIPT > characters else "latin"
