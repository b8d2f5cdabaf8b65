"""Responses on both sides: the caller's bytes are edited, the answer's events relayed."""

from collections.abc import Mapping

from zurelay.chat.faults import Fault
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Inbound, Outbound, Target, WholeAnswer
from zurelay.formats.openai_responses import edit, errors, relay
from zurelay.formats.openai_responses.relay import Assembler, RelayStream


class ResponsesToResponses:
    """See `formats.base.Exchange`."""

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The caller's request, edited for `target`."""
        return edit.write(inbound, target)

    def stream(self, context: AnswerContext) -> RelayStream:
        """A reader for an event stream that answers a streaming request."""
        return RelayStream(context)

    def whole(self, body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
        """Read a plain answer to a plain request."""
        return relay.whole(body, context, usage)

    def assembler(self, context: AnswerContext) -> Assembler:
        """A reader for an event stream that answers a plain request."""
        return Assembler(context)

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer."""
        return errors.fault(status, headers, body, now, profile, own_words=True)
