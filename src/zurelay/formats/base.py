"""What a wire format offers the rest of the program.

A *front* is a format callers speak, a *back* is one upstreams speak; an `Exchange` joins one of
each for one attempt. When both are the same format the exchange edits the caller's own bytes;
otherwise it translates through the hub in `chat/`. The relay knows only `Exchange`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, runtime_checkable

import msgspec

from zurelay.chat.faults import Fault
from zurelay.chat.problems import Problem
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage


class Ability(StrEnum):
    """Something a request has that a model may lack."""

    TOOLS = "tools"
    IMAGE = "image"
    PDF = "pdf"
    AUDIO = "audio"
    VIDEO = "video"
    JSON_SCHEMA = "json_schema"
    FORCED_TOOL = "forced_tool"
    STORED = "stored"  # what lies in an account at a provider, such as a file by its id


class Inbound(msgspec.Struct, frozen=True, gc=False):
    """A caller's request: validated, its own bytes kept.

    Attributes:
        front: name of the format it came in.
        body: the top-level fields, each as the caller's own bytes.
        model: the id asked for.
        stream: whether an event stream is wanted.
        include_usage: whether the caller wants a usage chunk.
        alternatives: `models`, duplicates removed; None when left out.
        effort: the effort word asked for, one of the scale; None when left out.
        max_output: the token limit; None when left out.
        choices: `n`.
        needs: what the request has -> path of the first field that has it.
        stop: stop sequences.
        user: caller's end user, kept here.
        metadata: caller's pairs, kept here.
        safety_identifier: kept here.
        cache_key: `prompt_cache_key`.
        text_length: of all text in the prompt, as `chat.estimate.measure` counts.
        media_count: parts that are not text, for estimates.
        turns: messages of any role, or items, of the conversation.
        opening: system text and first user message, which name the conversation for affinity.
        marks: what reading noticed in the messages, in the front's own words, so that an edit
            looks at them again only where something in them may have to change.
        headers: the caller's headers that belong to the format, lower-case names.
        mode: what is asked for: an answer (`chat`) or `embeddings`.
    """

    front: str
    body: Mapping[str, msgspec.Raw]
    model: str
    stream: bool = False
    include_usage: bool = False
    alternatives: tuple[str, ...] | None = None
    effort: str | None = None
    max_output: int | None = None
    choices: int = 1
    needs: Mapping[Ability, str] = {}
    stop: tuple[str, ...] = ()
    user: str | None = None
    metadata: Mapping[str, str] | None = None
    safety_identifier: str | None = None
    cache_key: str | None = None
    text_length: int = 0
    media_count: int = 0
    turns: int = 1
    opening: bytes = b""
    marks: frozenset[str] = frozenset()
    headers: Mapping[str, str] = {}
    mode: Literal["chat", "embeddings"] = "chat"


class Target(msgspec.Struct, frozen=True, gc=False):
    """Which model an attempt writes for.

    Attributes:
        public_model: the id callers know.
        upstream_model: the provider's own name for it.
        profile: provider's quirks with the model's laid over.
        effort: the level to send; None sends nothing.
        effort_default: the level in force if none is sent; None if unknown.
        reasons: the model has effort levels, whichever is in force.
        max_output: the model's own maximum, None if unknown.
        stream: whether the upstream is asked to stream.
        allows: request fields that cost and may pass all the same (`service_tier`).
        cache_key: what is sent as `prompt_cache_key` in place of the caller's own; None keeps it.
    """

    public_model: str
    upstream_model: str
    profile: Profile
    effort: str | None = None
    effort_default: str | None = None
    reasons: bool = False
    max_output: int | None = None
    stream: bool = False
    allows: frozenset[str] = frozenset()
    cache_key: str | None = None

    @property
    def thinks(self) -> bool:
        """Whether the upstream will think, as far as known: anything but a sure `none` counts."""
        return (self.effort or self.effort_default) != "none"


class Outbound(msgspec.Struct, frozen=True, gc=False):
    """What goes upstream: path below the base URL, JSON body, and what was left out.

    `dropped` holds field paths such as `seed` or `messages[].name`, never caller text. `stop` are
    the sequences the upstream was not given: the answer's context must carry them. `effort` is the
    level in force where it is not the target's, `tool_names` the caller's name of each tool that
    was renamed. `json_text`: JSON was asked for in words, `must_call`: so was a call of a tool; see
    `AnswerContext`. `json_call`: JSON comes as the arguments of a call that was forced for it.
    """

    path: str
    body: bytes
    dropped: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    stop: tuple[str, ...] = ()
    effort: str | None = None
    tool_names: Mapping[str, str] = {}
    json_text: bool = False
    must_call: bool = False
    json_call: bool = False


@dataclass(slots=True)
class Progress:
    """What one piece of upstream bytes came to.

    Attributes:
        out: bytes for the caller, whole events only; may be empty.
        token: it holds a token: text, reasoning, refusal or tool-call delta.
        started: a thinking block or reasoning item began.
        alive: at least one event of any kind arrived (comments are none).
        finished: a finish reason was read: the answer is complete.
        ended: the upstream's own end mark was read; nothing more is expected.
        fault: the attempt failed here; `out` then holds only what came before.
    """

    out: bytes = b""
    token: bool = False
    started: bool = False
    alive: bool = False
    finished: bool = False
    ended: bool = False
    fault: Fault | None = None


class AnswerContext(msgspec.Struct, frozen=True, gc=False):
    """What an answer must say about itself, whatever the upstream says.

    Attributes:
        answer_id: our own id, `chatcmpl-...`, `msg_...` or `resp_...`.
        created: Unix time in whole seconds.
        model: public id of the model that answers.
        include_usage: whether the caller wants the usage chunk.
        prompt_estimate: estimated input tokens, used where the upstream counts nothing.
        profile: quirks of the upstream that answers.
        stop: sequences the gateway must cut itself; empty when the upstream does.
        choices: answers asked for (`n`); the stream is finished when so many are.
        may_be_empty: the caller gave stop sequences, so an answer with nothing may be right.
        tool_names: the caller's name of each tool that the upstream knows by another.
        json_text: the text must be JSON, and the model was only told so in words: code fences
            around it are taken off, and a plain answer that does not parse is a fault.
        must_call: the answer must call a tool, and the model was only told so in words: whoever
            asked sees from `WholeAnswer.called` whether it did.
        json_call: the text comes as the arguments of a call; see `formats.json_call`.
        asked: the caller's own fields, for formats whose answers repeat them.
    """

    answer_id: str
    created: int
    model: str
    include_usage: bool
    prompt_estimate: int
    profile: Profile
    stop: tuple[str, ...] = ()
    choices: int = 1
    may_be_empty: bool = False
    tool_names: Mapping[str, str] = {}
    json_text: bool = False
    must_call: bool = False
    json_call: bool = False
    asked: Mapping[str, msgspec.Raw] = {}


class AnswerStream(Protocol):
    """Turns one attempt's upstream bytes into the caller's events. Pure; one per attempt."""

    @property
    def usage(self) -> Usage | None:
        """The provider's own count, None until it gave one."""
        ...

    @property
    def finish_reason(self) -> str | None:
        """Of the first choice; None until it came."""
        ...

    @property
    def delivered_length(self) -> int:
        """Text, reasoning and arguments read so far, as `chat.estimate.weight` counts."""
        ...

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes (content encoding already removed), cut anywhere."""
        ...

    def end(self) -> Progress:
        """The upstream's bytes are over.

        A missing finish reason is a BROKE_OFF fault here, an answer with nothing in it EMPTY.
        """
        ...

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer: usage chunk if wanted, `comment`, end mark."""
        ...


class WholeAnswer(msgspec.Struct, frozen=True, gc=False):
    """A plain answer, ready for the caller; or the fault that it was.

    `called`: it calls a tool.
    """

    body: bytes = b""
    usage: Usage | None = None
    finish_reason: str | None = None
    delivered_length: int = 0
    fault: Fault | None = None
    called: bool = False


class Exchange(Protocol):
    """One front joined to one back."""

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The upstream request. Pure and repeatable; raises Refused where it cannot be written."""
        ...

    def stream(self, context: AnswerContext) -> AnswerStream:
        """A reader for an event stream that answers a streaming request."""
        ...

    def whole(self, body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
        """Read a plain upstream answer (status 200) for a plain request.

        `usage` None: the answer's own count, or an estimate marked as such where it has none.
        """
        ...

    def assembler(self, context: AnswerContext) -> "AnswerAssembler":
        """A reader for an event stream that answers a plain request."""
        ...

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer. `headers` have lower-case names; `now` is Unix time."""
        ...


class AnswerAssembler(AnswerStream, Protocol):
    """An `AnswerStream` whose events are kept and folded into one plain answer."""

    def whole(self, usage: Usage | None = None) -> WholeAnswer:
        """The folded answer; call after `end`. `usage` None: as in `Exchange.whole`."""
        ...


class Front(Protocol):
    """A format callers speak."""

    name: str
    answer_prefix: str
    """Start of our answer ids: `chatcmpl-`, `msg_`, `resp_`."""
    keep_alive: bytes
    """What fills a silence on an open stream."""
    keep_alive_inside: bytes
    """What does so once the answer has begun."""
    headers: tuple[str, ...]
    """Callers' headers that belong to the format, lower-case names; see `Inbound.headers`."""

    def read(self, body: bytes) -> Inbound:
        """Validate a decoded body. Raises Refused naming the field and what would be right."""
        ...

    def problem_body(self, problem: Problem, request_id: str) -> tuple[int, bytes]:
        """Status and JSON body of an error answer."""
        ...

    def problem_event(self, problem: Problem, request_id: str) -> bytes:
        """The error event for a stream that is open; never followed by an end mark."""
        ...


@runtime_checkable
class FailingStream(Protocol):
    """A stream whose error event goes on from what was sent before."""

    def failure(self, problem: Problem) -> bytes | None:
        """The last events of an answer that fails here; None if its format tells no more."""
        ...


@runtime_checkable
class FailingFront(Protocol):
    """A front whose error event on an open stream is the end of an answer."""

    def failure(self, problem: Problem, context: AnswerContext) -> bytes:
        """All events of an answer that failed before any of it was sent."""
        ...
