"""Typed views of a Responses request: what is checked, over the caller's own bytes.

Only types stand here; what values mean is checked in `checks` and `conversation`. Every field may
be null, which counts as left out. Unknown fields are skipped and stay in the bytes. Items are kept
as bytes until their type is known: newer ones may have fields of any type.
"""

import msgspec
from msgspec import Raw, Struct

NULL = Raw(b"null")


class InputAudio(Struct):
    """`input_audio` of a part."""

    data: str
    format: str


class Part(Struct):
    """One content part of any type."""

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: str | None = None
    file_id: str | None = None
    file_url: str | None = None
    file_data: str | None = None
    filename: str | None = None
    detail: str | None = None
    input_audio: InputAudio | None = None


class Kind(Struct):
    """What an item is."""

    type: str | None = None
    role: str | None = None


class Message(Struct):
    """A message of any role."""

    content: str | list[Part] | None = None


class Call(Struct):
    """A call of a function or of a custom tool."""

    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: str | None = None
    input: str | None = None


class Output(Struct):
    """What a tool gave back."""

    call_id: str | None = None
    output: str | list[Part] | None = None


class Reasoning(Struct):
    """Earlier thinking."""

    summary: list[Part] | None = None
    content: list[Part] | None = None
    encrypted_content: str | None = None


class Tool(Struct):
    """One of `tools`; a namespace has tools of its own."""

    type: str
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Raw] | None = None
    strict: bool | None = None
    tools: "list[Tool] | None" = None


class Additional(Struct):
    """Tools that an item of the input brings."""

    tools: list[Tool] | None = None


class Named(Struct):
    """One of the `tools` of a tool choice."""

    type: str | None = None
    name: str | None = None


class ToolChoice(Struct):
    """`tool_choice` as an object."""

    type: str
    name: str | None = None
    mode: str | None = None
    tools: list[Named] | None = None


class Format(Struct):
    """`text.format`."""

    type: str
    name: str | None = None
    description: str | None = None
    schema: dict[str, Raw] | None = None
    strict: bool | None = None


class TextConfig(Struct):
    """`text`."""

    format: Format | None = None
    verbosity: str | None = None


class ReasoningConfig(Struct):
    """`reasoning`."""

    effort: str | None = None
    summary: str | None = None


class Request(Struct):
    """The fields of a request that this gateway knows."""

    model: str | None = None
    input: str | list[Raw] | None = None
    instructions: str | None = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    tools: list[Tool] | None = None
    tool_choice: str | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    text: TextConfig | None = None
    reasoning: ReasoningConfig | None = None
    include: list[str] | None = None
    store: bool | None = None
    background: bool | None = None
    previous_response_id: str | None = None
    conversation: Raw = NULL
    prompt: Raw = NULL
    truncation: str | None = None
    models: list[str] | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None


REQUEST = msgspec.json.Decoder(Request)
KIND = msgspec.json.Decoder(Kind)
MESSAGE = msgspec.json.Decoder(Message)
CALL = msgspec.json.Decoder(Call)
OUTPUT = msgspec.json.Decoder(Output)
REASONING = msgspec.json.Decoder(Reasoning)
ADDITIONAL = msgspec.json.Decoder(Additional)
