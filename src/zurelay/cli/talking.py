"""A conversation with a running gateway over its own API: questions in, pieces of answers out.

Knows the Chat Completions API and our upstream client; prints nothing.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from zurelay.cli.terminal import Failed
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient
from zurelay.upstream.reading import Stream
from zurelay.wire.sse import FrameReader

_ERROR_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer, as it comes."""

    kind: Literal["reasoning", "content", "refusal", "tool"]
    text: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the gateway is and what is said to it in every call.

    Attributes:
        base_url: with `/v1`.
    """

    base_url: str
    api_key: str = field(repr=False)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of every call."""
        return (
            ("authorization", f"Bearer {self.api_key}"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        )


def base_url(written: str) -> str:
    """The base URL with its `/v1`, however it was written."""
    plain = written.strip().rstrip("/")
    if not plain.startswith(("http://", "https://")):
        plain = f"http://{plain}"
    return plain if plain.endswith("/v1") else f"{plain}/v1"


async def first_model(client: HttpClient, endpoint: Endpoint) -> str:
    """The model that is listed first, one that is no sandbox model where there is one.

    Raises:
        Failed: the gateway does not answer, refuses the key or serves none.
    """
    call = Call("GET", f"{endpoint.base_url}/models", endpoint.headers(), b"")
    try:
        response = await client.fetch(call)
    except UpstreamError as error:
        raise unreachable(endpoint, error) from error
    if response.status != 200:
        raise Failed(_told(response.status, response.body))
    try:
        ids = [str(one["id"]) for one in msgspec.json.decode(response.body)["data"]]
    except (msgspec.DecodeError, LookupError, TypeError) as error:
        raise Failed(f"{endpoint.base_url} is no gateway: it has no list of models") from error
    if not ids:
        raise Failed("this key may use no model")
    return next((one for one in ids if not one.startswith("sandbox/")), ids[0])


async def answer(
    client: HttpClient,
    endpoint: Endpoint,
    model: str,
    messages: Sequence[Mapping[str, str]],
    effort: str | None = None,
) -> AsyncIterator[Piece]:
    """The answer to a conversation, piece by piece.

    Raises:
        Failed: no answer, or one that broke off.
    """
    body: dict[str, Any] = {"model": model, "messages": list(messages), "stream": True}
    if effort is not None:
        body["reasoning_effort"] = effort
    url = f"{endpoint.base_url}/chat/completions"
    call = Call("POST", url, endpoint.headers(), msgspec.json.encode(body))
    try:
        async with client.stream(call) as stream:
            if stream.status != 200:
                raise Failed(_told(stream.status, await _all(stream)))
            async for piece in _pieces(stream):
                yield piece
    except UpstreamError as error:
        raise unreachable(endpoint, error) from error


def unreachable(endpoint: Endpoint, error: UpstreamError) -> Failed:
    """What is said when the gateway is not there, or breaks off."""
    if not error.before_answer:
        return Failed(f"the answer broke off: {error}")
    return Failed(f"no gateway answers at {endpoint.base_url} ({error}); start it: zurelay serve")


async def _all(stream: Stream) -> bytes:
    body = b""
    async for chunk in stream:
        body += chunk
        if len(body) > _ERROR_BYTES:
            break
    return body


async def _pieces(stream: Stream) -> AsyncIterator[Piece]:
    reader = FrameReader()
    finished = False
    async for chunk in stream:
        for frame in reader.feed(chunk):
            if frame.data == b"[DONE]":
                return
            event = _event(frame.data)
            finished = finished or bool(_choice(event).get("finish_reason"))
            for piece in _read(event):
                yield piece
    if not finished:
        raise Failed("the answer broke off")


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise Failed("the gateway sent an event that is no JSON") from error
    if not isinstance(event, dict):
        raise Failed("the gateway sent an event that is no object")
    if "error" in event:
        raise Failed(_message(event))
    return event


def _choice(event: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = event.get("choices")
    return choices[0] if isinstance(choices, list) and choices else {}


def _read(event: Mapping[str, Any]) -> list[Piece]:
    delta = _choice(event).get("delta") or {}
    found: list[Piece] = []
    for kind, name in (
        ("reasoning", "reasoning_content"),
        ("content", "content"),
        ("refusal", "refusal"),
    ):
        text = delta.get(name)
        if isinstance(text, str) and text:
            found.append(Piece(kind, text))  # type: ignore[arg-type]
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        text = f"{function.get('name') or ''}{function.get('arguments') or ''}"
        if text:
            found.append(Piece("tool", text))
    return found


def _told(status: int, body: bytes) -> str:
    try:
        return _message(msgspec.json.decode(body))
    except (msgspec.DecodeError, LookupError, TypeError, AttributeError):
        return f"the gateway answered with status {status}"


def _message(answer_: Any) -> str:
    return str(answer_["error"]["message"])
