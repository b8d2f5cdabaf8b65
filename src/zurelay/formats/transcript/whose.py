"""Whose a request is, told by its body alone: for bodies that nothing else could be read of."""

import msgspec
from msgspec import Raw, Struct

from zurelay.formats.openai_chat.view import NULL


class _Asked(Struct):
    user: Raw = NULL
    metadata: Raw = NULL


class _Metadata(Struct):
    user_id: Raw = NULL


def end_user(front: str, body: bytes) -> str | None:
    """The caller's end user that the body of a request names; None for none, or for no JSON.

    Args:
        front: name of the format it is in.
        body: without its content encoding.
    """
    try:
        asked = msgspec.json.decode(body, type=_Asked)
        if front == "anthropic":
            asked.user = msgspec.json.decode(asked.metadata, type=_Metadata).user_id
        return msgspec.json.decode(asked.user, type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
