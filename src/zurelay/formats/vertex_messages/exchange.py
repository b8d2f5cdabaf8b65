"""Claude on Vertex AI for callers of any format: what serves them at Anthropic, carried there.

The exchange inside writes and reads Messages; events and answers are the same as Anthropic's.
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
    Target,
    WholeAnswer,
)
from zurelay.formats.gemini import errors
from zurelay.formats.vertex_messages.request import laid_over, rewritten


class VertexExchange:
    """See `formats.base.Exchange`."""

    def __init__(self, inside: Exchange) -> None:
        self._inside = inside

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The upstream request."""
        target = msgspec.structs.replace(target, profile=laid_over(target.profile))
        return rewritten(self._inside.write(inbound, target), target)

    def stream(self, context: AnswerContext) -> AnswerStream:
        """A reader for an event stream that answers a streaming request."""
        return self._inside.stream(_placed(context))

    def whole(self, body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
        """Read a plain answer to a plain request."""
        return self._inside.whole(body, _placed(context), usage)

    def assembler(self, context: AnswerContext) -> AnswerAssembler:
        """A reader for an event stream that answers a plain request."""
        return self._inside.assembler(_placed(context))

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer: Google's own words have a `status`, Anthropic's a `type`."""
        if errors.is_google(body):
            return errors.fault(status, headers, body, now, profile)
        return self._inside.fault(status, headers, body, now, laid_over(profile))


def _placed(context: AnswerContext) -> AnswerContext:
    return msgspec.structs.replace(context, profile=laid_over(context.profile))
