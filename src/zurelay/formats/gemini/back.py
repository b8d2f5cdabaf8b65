"""generateContent as a format that upstreams speak."""

from collections.abc import Mapping

from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request
from zurelay.formats.base import AnswerContext, Outbound, Target
from zurelay.formats.event_stream import EventStream
from zurelay.formats.gemini import errors, reply, request
from zurelay.formats.gemini.stream import event_stream

NAME = "gemini"


class GeminiBack:
    """See `formats.translate.Back`."""

    name = NAME

    def write(self, asked: Request, target: Target) -> Outbound:
        """The upstream request."""
        return request.write(asked, target)

    def reader(self, context: AnswerContext) -> EventStream:
        """A reader for the upstream's event stream."""
        return event_stream(context)

    def reply(self, body: bytes, context: AnswerContext) -> Reply | Fault:
        """Read a plain answer."""
        return reply.read(body, context)

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
