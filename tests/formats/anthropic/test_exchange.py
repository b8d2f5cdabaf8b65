"""Messages on both sides, joined."""

from tests.formats.anthropic import made
from tests.formats.anthropic.test_edit import inbound
from zurelay.chat.faults import FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.anthropic.relay import Assembler, RelayStream
from zurelay.formats.registry import exchange

JOIN = exchange("anthropic", "anthropic")


def test_the_registry_edits_and_relays() -> None:
    assert JOIN.write(inbound(), made.target()).path == "/v1/messages"
    assert isinstance(JOIN.stream(made.context()), RelayStream)
    assert isinstance(JOIN.assembler(made.context()), Assembler)
    assert JOIN.whole(b"{}", made.context()).fault is not None
    assert JOIN.fault(529, {}, b"", 0.0, Profile()).kind is FaultKind.OVERLOADED
