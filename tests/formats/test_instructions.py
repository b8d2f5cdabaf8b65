"""What a conversation begins with, for formats that keep it apart."""

from zurelay.chat.parts import Image, Text
from zurelay.chat.request import Turn
from zurelay.formats.instructions import leading, texts

SYSTEM = Turn("system", (Text("a"), Image(url="https://a.example/b.png"), Text("")))
DEVELOPER = Turn("developer", (Text("b"),))
USER = Turn("user", (Text("c"),))


def test_instructions_lead_up_to_the_first_other_turn() -> None:
    assert leading((SYSTEM, DEVELOPER, USER, SYSTEM)) == 2
    assert leading((USER, SYSTEM)) == 0


def test_a_conversation_of_instructions_alone_stays_whole() -> None:
    assert leading((SYSTEM, DEVELOPER)) == 0
    assert leading(()) == 0


def test_every_text_is_told_in_order() -> None:
    assert list(texts((SYSTEM, DEVELOPER))) == ["a", "", "b"]
