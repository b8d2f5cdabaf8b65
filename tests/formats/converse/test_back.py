"""Converse as a back: its parts put together."""

import json

from tests.formats.converse.bedrock import METADATA, PLAIN, START, context, delta, end, stream
from zurelay.chat.faults import FaultKind
from zurelay.formats.base import Exchange, Target
from zurelay.formats.converse.back import ConverseBack
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.formats.openai_chat.hub import ChatHubFront
from zurelay.formats.translate import TranslatingExchange

HUB: Exchange = TranslatingExchange(ChatHubFront(), ConverseBack())
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stop": ["END"]}


def test_chat_callers_are_served() -> None:
    inbound = ChatFront().read(json.dumps(ASKED).encode())
    out = HUB.write(inbound, Target("public", "u", PLAIN, stream=True))
    assert (out.path, out.stop) == ("/model/u/converse-stream", ())
    reader = HUB.stream(context())
    events = stream([START, delta(0, text="Hel"), delta(0, text="lo"), end(), METADATA])
    steps = [reader.feed(piece) for piece in events]
    assert b"Hel" in steps[1].out
    assert [step.finished for step in steps] == [False] * 3 + [True, False]
    assert reader.usage is not None
    plain = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hello"}]}},
        "stopReason": "end_turn",
    }
    whole = HUB.whole(json.dumps(plain).encode(), context())
    assert json.loads(whole.body)["choices"][0]["message"]["content"] == "Hello"


def test_errors_are_read() -> None:
    found = HUB.fault(429, {"x-amzn-errortype": "ThrottlingException"}, b"{}", 0.0, PLAIN)
    assert found.kind is FaultKind.RATE_LIMITED


def test_an_answer_with_nothing_in_it_is_a_fault() -> None:
    reader = HUB.stream(context())
    steps = [reader.feed(piece) for piece in stream([START, end()])]
    assert steps[1].fault is not None
    assert steps[1].fault.kind is FaultKind.EMPTY
