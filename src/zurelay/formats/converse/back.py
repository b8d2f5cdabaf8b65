"""Converse as a format that upstreams speak."""

from collections.abc import Mapping

from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request
from zurelay.formats import json_call
from zurelay.formats.base import AnswerContext, Outbound, Target
from zurelay.formats.converse import NAME, errors, reply, request
from zurelay.formats.converse.stream import ConverseEvents
from zurelay.formats.translate import EventReader


class ConverseBack:
    """See `formats.translate.Back`."""

    name = NAME

    def write(self, asked: Request, target: Target) -> Outbound:
        """The upstream request."""
        return request.write(asked, target)

    def reader(self, context: AnswerContext) -> EventReader:
        """A reader for the upstream's event stream."""
        reader = ConverseEvents(context)
        return json_call.AnswerReader(reader) if context.json_call else reader

    def reply(self, body: bytes, context: AnswerContext) -> Reply | Fault:
        """Read a plain answer."""
        return json_call.unwrapped(reply.read(body, context), context)

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
