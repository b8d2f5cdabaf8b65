"""Every wire format, and the exchanges between them."""

from zurelay.formats.base import Exchange, Front
from zurelay.formats.openai_chat.exchange import ChatToChat
from zurelay.formats.openai_chat.front import ChatFront

FRONTS: tuple[Front, ...] = (ChatFront(),)
"""Formats that callers speak."""

_SAME: dict[str, Exchange] = {"openai_chat": ChatToChat()}


def front(name: str) -> Front:
    """The front of that name; raises KeyError for an unknown one."""
    return {each.name: each for each in FRONTS}[name]


def exchange(front_name: str, back_name: str) -> Exchange:
    """How a caller of one format is served by an upstream of another."""
    return _SAME[front_name] if front_name == back_name else _SAME[back_name]
