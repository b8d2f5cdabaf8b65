"""Typed views of a Chat Completions request: what is checked, over the caller's own bytes.

Only types stand here; what values mean is checked in `front`. Every field may be null, which counts
as left out. Unknown fields are skipped and stay in the bytes.
"""

import msgspec
from msgspec import Raw, Struct

NULL = Raw(b"null")
_NULL_SIZE = len(b"null")

MOST_TEMPERATURE = 2
"""The highest a caller may ask for; the lowest is 0."""


def given(raw: Raw) -> bool:
    """Whether a field kept as bytes is there at all."""
    return memoryview(raw).nbytes != _NULL_SIZE or bytes(raw) != b"null"


def size(raw: Raw) -> int:
    """Bytes of a field, without a copy of them."""
    return memoryview(raw).nbytes


def text(raw: Raw) -> str:
    """The JSON of a field, for estimates."""
    return bytes(raw).decode("utf-8", "replace")


class ImageUrl(Struct):
    """`image_url` of a part; `video_url` has the same shape."""

    url: str
    detail: str | None = None


class InputAudio(Struct):
    """`input_audio` of a part."""

    data: str
    format: str


class FilePart(Struct):
    """`file` of a part."""

    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None


class Part(Struct):
    """One content part of any type."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: ImageUrl | None = None
    video_url: ImageUrl | None = None
    input_audio: InputAudio | None = None
    file: FilePart | None = None


class CallFunction(Struct):
    """`function` of a tool call."""

    name: str
    arguments: str


class CallCustom(Struct):
    """`custom` of a call of a freeform tool."""

    name: str
    input: str


class Call(Struct):
    """One of an assistant's `tool_calls`."""

    id: str
    type: str | None = None
    function: CallFunction | None = None
    custom: CallCustom | None = None
    index: Raw = NULL


class Message(Struct):
    """One message of any role."""

    role: str
    content: str | list[Part] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Raw] | None = None
    function_call: Raw = NULL
    audio: Raw = NULL


class Function(Struct):
    """`function` of a tool."""

    name: str
    description: str | None = None
    parameters: dict[str, Raw] | None = None
    strict: bool | None = None


class CustomTool(Struct):
    """`custom` of a freeform tool."""

    name: str


class Tool(Struct):
    """One of `tools`."""

    type: str
    function: Function | None = None
    custom: CustomTool | None = None


class Named(Struct):
    """`function` or `custom` of a tool choice."""

    name: str


class ToolChoice(Struct):
    """`tool_choice` as an object."""

    type: str
    function: Named | None = None
    custom: Named | None = None
    allowed_tools: dict[str, Raw] | None = None


class JsonSchema(Struct):
    """`json_schema` of a response format."""

    name: str
    description: str | None = None
    schema: dict[str, Raw] | None = None
    strict: bool | None = None


class ResponseFormat(Struct):
    """`response_format`."""

    type: str
    json_schema: JsonSchema | None = None


class StreamOptions(Struct):
    """`stream_options`."""

    include_usage: bool | None = None


class Request(Struct):
    """The fields of a request that this gateway knows."""

    model: str | None = None
    messages: list[Message] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    n: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: str | list[str] | None = None
    tools: list[Tool] | None = None
    tool_choice: str | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    models: list[str] | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None


REQUEST = msgspec.json.Decoder(Request)
