"""Requests and answers of every front format as a conversation that people can read.

Whatever is broken, cut or unknown is left out or shown as it is: nothing here raises.
"""

from collections.abc import Callable
from functools import partial

from zurelay.formats.transcript import chat, messages, responses
from zurelay.formats.transcript.turn import Piece, Turn, decoded, laid_out

__all__ = ["Piece", "Turn", "conversation", "laid_out"]


def conversation(front: str, body: bytes, answer: bytes, *, stream: bool) -> list[Turn]:
    """What was asked and answered, in order.

    Args:
        front: name of the format.
        body: of the request.
        answer: JSON, or the bytes of an event stream; either may be cut or empty.
        stream: it is an event stream.
    """
    given = decoded(body)
    asked = partial(_asked, front, given if isinstance(given, dict) else {})
    return _safely(asked) + _safely(partial(_answered, front, answer, stream=stream))


def _safely(read: Callable[[], list[Turn]]) -> list[Turn]:
    try:
        return read()
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return []  # JSON of no format that is known; it can be looked at as it is


def _asked(front: str, body: dict[str, object]) -> list[Turn]:
    match front:
        case "anthropic":
            return messages.asked(body)
        case "openai_responses":
            return responses.asked(body)
        case "embeddings":
            return chat.asked_vectors(body)
        case _:
            return chat.asked(body)


def _answered(front: str, answer: bytes, *, stream: bool) -> list[Turn]:
    match front:
        case "anthropic":
            return messages.answered(answer, stream=stream)
        case "openai_responses":
            return responses.answered(answer, stream=stream)
        case "embeddings":
            return chat.answered_vectors(answer)
        case _:
            return chat.answered(answer, stream=stream)
