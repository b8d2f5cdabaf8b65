"""InvokeModel for callers of any format: what serves them at Anthropic itself, wrapped.

The exchange inside writes and reads Messages; here stands only how Bedrock carries them.
"""

from collections.abc import Mapping

import msgspec

from zurelay.chat.faults import Fault
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import (
    AnswerAssembler,
    AnswerContext,
    AnswerStream,
    Exchange,
    Inbound,
    Outbound,
    Progress,
    Target,
    WholeAnswer,
)
from zurelay.formats.bedrock_invoke.frames import Unwrapper
from zurelay.formats.bedrock_invoke.request import laid_over, rewritten
from zurelay.formats.converse import errors


class InvokeExchange:
    """See `formats.base.Exchange`."""

    def __init__(self, inside: Exchange) -> None:
        self._inside = inside

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The upstream request."""
        target = msgspec.structs.replace(target, profile=laid_over(target.profile))
        return rewritten(self._inside.write(inbound, target), target)

    def stream(self, context: AnswerContext) -> "InvokeStream":
        """A reader for an event stream that answers a streaming request."""
        context = _placed(context)
        return InvokeStream(self._inside.stream(context), context.profile)

    def whole(self, body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
        """Read a plain answer to a plain request."""
        return self._inside.whole(body, _placed(context), usage)

    def assembler(self, context: AnswerContext) -> "InvokeAssembler":
        """A reader for an event stream that answers a plain request."""
        context = _placed(context)
        return InvokeAssembler(self._inside.assembler(context), context.profile)

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer."""
        return errors.fault(status, headers, body, now, profile)


def _placed(context: AnswerContext) -> AnswerContext:
    return msgspec.structs.replace(context, profile=laid_over(context.profile))


class InvokeStream:
    """See `formats.base.AnswerStream`."""

    def __init__(self, inside: AnswerStream, profile: Profile) -> None:
        self._inside = inside
        self._frames = Unwrapper(profile)
        self._finished = False

    @property
    def usage(self) -> Usage | None:
        """The provider's own count, None until it gave one."""
        return self._inside.usage

    @property
    def finish_reason(self) -> str | None:
        """None until it came."""
        return self._inside.finish_reason

    @property
    def delivered_length(self) -> int:
        """What was read so far, as `chat.estimate.weight` counts."""
        return self._inside.delivered_length

    def feed(self, chunk: bytes) -> Progress:
        """Take the next bytes, cut anywhere."""
        events = self._frames.feed(chunk)
        progress = self._inside.feed(events) if events else Progress()
        self._finished |= progress.finished
        fault = self._frames.fault
        if fault is not None and progress.fault is None:
            if self._finished:
                progress.ended = True  # a complete answer stays one
            else:
                progress.fault = fault
        return progress

    def end(self) -> Progress:
        """The upstream's bytes are over."""
        return self._inside.end()

    def finale(self, usage: Usage, comment: bytes) -> bytes:
        """The last events of a good answer."""
        return self._inside.finale(usage, comment)


class InvokeAssembler(InvokeStream):
    """See `formats.base.AnswerAssembler`."""

    def __init__(self, inside: AnswerAssembler, profile: Profile) -> None:
        super().__init__(inside, profile)
        self._assembler = inside

    def whole(self, usage: Usage | None = None) -> WholeAnswer:
        """The folded answer; call after `end`."""
        return self._assembler.whole(usage)
