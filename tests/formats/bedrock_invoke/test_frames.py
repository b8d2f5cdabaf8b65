"""Events out of the binary stream of InvokeModel."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.bedrock_invoke.invoking import EVENTS, STREAM, wrapped
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.bedrock_invoke.frames import Unwrapper
from zurelay.testing.event_stream import (
    event_stream_event,
    event_stream_exception,
    event_stream_message,
)
from zurelay.wire.sse import FrameReader


@given(st.lists(st.integers(0, sum(map(len, STREAM))), max_size=8))
def test_any_cutting_gives_the_events_that_anthropic_would_send(cuts: list[int]) -> None:
    raw = b"".join(STREAM)
    unwrapper = Unwrapper(Profile())
    edges = [0, *sorted(cuts), len(raw)]
    out = b"".join(unwrapper.feed(raw[a:b]) for a, b in pairwise(edges))
    frames = FrameReader().feed(out)
    assert [json.loads(frame.data) for frame in frames] == EVENTS
    assert [frame.event.decode() for frame in frames] == [event["type"] for event in EVENTS]
    assert unwrapper.fault is None


def test_an_event_stays_one_line() -> None:
    out = Unwrapper(Profile()).feed(wrapped(b'{\r\n "type": "ping"\n}'))
    assert out == b'event: ping\ndata: { "type": "ping"}\n\n'


def test_unknown_messages_are_passed_over() -> None:
    unwrapper = Unwrapper(Profile())
    assert unwrapper.feed(event_stream_event("initial-response", {})) == b""
    assert unwrapper.fault is None


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (event_stream_exception("throttlingException", "m"), FaultKind.RATE_LIMITED),
        (event_stream_exception("modelTimeoutException", "m"), FaultKind.TIMEOUT),
        (
            event_stream_message({":message-type": "error", ":error-code": "InternalFailure"}, b""),
            FaultKind.SERVER_ERROR,
        ),
        (event_stream_event("chunk", {"bytes": "!"}), FaultKind.BAD_ANSWER),
        (event_stream_event("chunk", {}), FaultKind.BAD_ANSWER),
        (wrapped(b"{"), FaultKind.BAD_ANSWER),
        (b"\x00" * 20, FaultKind.BAD_ANSWER),
    ],
)
def test_a_fault_ends_the_stream_after_what_came_before(message: bytes, kind: FaultKind) -> None:
    unwrapper = Unwrapper(Profile())
    out = unwrapper.feed(STREAM[0] + message + STREAM[1])
    assert out.count(b"event: ") == 1
    assert unwrapper.fault is not None
    assert unwrapper.fault.kind is kind
    assert unwrapper.feed(STREAM[2]) == b""
