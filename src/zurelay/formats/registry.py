"""Every wire format, and the exchanges between them.

A new format is a folder beside `openai_chat` and a line in each tuple that it belongs to.
"""

from zurelay.formats.anthropic.back import MessagesBack
from zurelay.formats.anthropic.exchange import MessagesToMessages
from zurelay.formats.anthropic.front import CountFront, MessagesFront
from zurelay.formats.anthropic.hub import MessagesHubFront
from zurelay.formats.base import Exchange, Front
from zurelay.formats.bedrock_invoke import NAME as INVOKE
from zurelay.formats.bedrock_invoke.exchange import InvokeExchange
from zurelay.formats.converse.back import ConverseBack
from zurelay.formats.embeddings.exchange import Embeddings
from zurelay.formats.embeddings.front import EmbeddingsFront
from zurelay.formats.gemini.back import GeminiBack
from zurelay.formats.openai_chat.exchange import ChatToChat
from zurelay.formats.openai_chat.front import ChatFront
from zurelay.formats.openai_chat.hub import ChatBack, ChatHubFront
from zurelay.formats.openai_responses.back import ResponsesBack
from zurelay.formats.openai_responses.exchange import ResponsesToResponses
from zurelay.formats.openai_responses.front import ResponsesFront
from zurelay.formats.openai_responses.hub import ResponsesHubFront
from zurelay.formats.translate import Back, HubFront, TranslatingExchange
from zurelay.formats.vertex_messages import NAME as VERTEX
from zurelay.formats.vertex_messages.exchange import VertexExchange

FRONTS: tuple[Front, ...] = (
    ChatFront(),
    MessagesFront(),
    CountFront(),
    ResponsesFront(),
    EmbeddingsFront(),
)
"""Formats that callers speak."""

HUB_FRONTS: tuple[HubFront, ...] = (ChatHubFront(), MessagesHubFront(), ResponsesHubFront())
"""Those of them that can be translated, as far as that needs them."""

BACKS: tuple[Back, ...] = (
    ChatBack(),
    ResponsesBack(),
    MessagesBack(),
    GeminiBack(),
    ConverseBack(),
)
"""Formats that upstreams speak."""

SAME: tuple[tuple[str, Exchange], ...] = (
    (ChatFront.name, ChatToChat()),
    (MessagesFront.name, MessagesToMessages()),
    (ResponsesFront.name, ResponsesToResponses()),
    (EmbeddingsFront.name, Embeddings()),
)
"""Formats that are edited, not translated, when both sides speak them."""

_FRONTS = {front.name: front for front in FRONTS}
_EXCHANGES: dict[tuple[str, str], Exchange] = {
    (front.name, back.name): TranslatingExchange(front, back)
    for front in HUB_FRONTS
    for back in BACKS
} | {(name, name): same for name, same in SAME}
# What serves callers at Anthropic serves them at Bedrock, carried in another way.
_EXCHANGES |= {
    (front.name, INVOKE): InvokeExchange(_EXCHANGES[front.name, MessagesBack.name])
    for front in HUB_FRONTS
}
# Likewise at Vertex AI.
_EXCHANGES |= {
    (front.name, VERTEX): VertexExchange(_EXCHANGES[front.name, MessagesBack.name])
    for front in HUB_FRONTS
}


def front(name: str) -> Front:
    """The front of that name; raises KeyError for an unknown one."""
    return _FRONTS[name]


def exchange(front_name: str, back_name: str) -> Exchange:
    """How callers of one format are served by upstreams of another; KeyError if unknown."""
    return _EXCHANGES[front_name, back_name]
