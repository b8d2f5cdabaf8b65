"""Messages as a format that upstreams speak."""

from collections.abc import Mapping

from zurelay.chat.events import Reply
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.request import Request
from zurelay.formats import json_call
from zurelay.formats.anthropic import NAME, errors, request
from zurelay.formats.anthropic.events import MessageReader, event_stream
from zurelay.formats.base import AnswerContext, Outbound, Target
from zurelay.formats.fold import EventFold
from zurelay.formats.translate import EventReader
from zurelay.wire import json


class MessagesBack:
    """See `formats.translate.Back`."""

    name = NAME

    def write(self, asked: Request, target: Target) -> Outbound:
        """The upstream request."""
        return request.write(asked, target)

    def reader(self, context: AnswerContext) -> EventReader:
        """A reader for the upstream's event stream."""
        reader = event_stream(context)
        return json_call.AnswerReader(reader) if context.json_call else reader

    def reply(self, body: bytes, context: AnswerContext) -> Reply | Fault:
        """Read a plain answer, as its own stream would be read."""
        try:
            message = json.decode(json.readable(body.strip()))
        except json.BadJson as error:
            return Fault(FaultKind.BAD_ANSWER, f"unreadable: {error}", status=200)
        if not isinstance(message, dict):
            return Fault(FaultKind.BAD_ANSWER, "an answer that is no object", status=200)
        events = MessageReader(context).whole(message)
        if isinstance(events, Fault):
            return events
        fold = EventFold()
        for event in events:
            fold.add(event)
        found = fold.reply()
        if not found.choices:
            return Fault(FaultKind.BAD_ANSWER, "an answer without a stop reason", status=200)
        return json_call.unwrapped(found, context)

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
