"""The exchange of the same format: a whole request and its answer."""

import json

from tests.formats.openai_chat.streams import chunk, context, event
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerAssembler, AnswerStream, Target
from zurelay.formats.openai_chat.exchange import ChatToChat
from zurelay.formats.openai_chat.front import ChatFront

JOIN = ChatToChat()
BODY = {"model": "public", "messages": [{"role": "user", "content": "hi"}]}


def test_a_request_and_its_answer_three_ways() -> None:
    inbound = ChatFront().read(json.dumps(BODY).encode())
    out = JOIN.write(inbound, Target("public", "upstream", Profile(), stream=True))
    assert json.loads(out.body)["model"] == "upstream"
    pieces = [
        chunk({"content": "A"}),
        chunk({}, "stop"),
        event({"usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
    ]
    stream: AnswerStream = JOIN.stream(context())
    assembler: AnswerAssembler = JOIN.assembler(context())
    for piece in pieces:
        stream.feed(piece)
        assembler.feed(piece)
    assert (stream.end().fault, assembler.end().fault) == (None, None)
    plain = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": 1, "completion_tokens": 1}}  # fmt: skip
    assert assembler.whole() == JOIN.whole(json.dumps(plain).encode(), context())
    assert stream.usage == assembler.whole().usage == Usage(1, output=1)


def test_an_error_is_read_with_the_profile() -> None:
    profile = Profile(content_codes=frozenset({"1301"}))
    assert (
        JOIN.fault(400, {}, b'{"error":{"code":"1301"}}', 0, profile).kind
        is FaultKind.CONTENT_POLICY
    )
    assert (
        JOIN.fault(400, {}, b'{"error":{"code":"1301"}}', 0, Profile()).kind is FaultKind.REJECTED
    )
