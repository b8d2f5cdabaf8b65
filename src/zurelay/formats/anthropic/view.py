"""Typed views of a Messages request: what is checked, over the caller's own bytes.

Only types stand here; what values mean is checked in `checks`. Every field may be null, which
counts as left out. Unknown fields are skipped and stay in the bytes; fields whose type depends on
the block are kept as bytes.
"""

import msgspec
from msgspec import Raw, Struct

NULL = Raw(b"null")


class Source(Struct):
    """`source` of an image or document."""

    type: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    content: Raw = NULL


class Block(Struct):
    """One content block of any type."""

    type: str
    text: str | None = None
    source: Raw = NULL
    id: str | None = None
    name: str | None = None
    input: Raw = NULL
    tool_use_id: str | None = None
    content: Raw = NULL
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    file_id: str | None = None
    tool: Raw = NULL


class TurnConfig(Struct):
    """`output_config` of one message."""

    effort: str | None = None


class Message(Struct):
    """One message of any role."""

    role: str
    content: str | list[Block]
    output_config: TurnConfig | None = None


class Tool(Struct):
    """One of `tools`, the caller's own or one that the provider runs."""

    name: str | None = None
    type: str | None = None
    description: str | None = None
    input_schema: dict[str, Raw] | None = None


class Change(Struct):
    """What a block that adds or removes a tool speaks of: one of `tools`, or a new one."""

    name: str | None = None
    definition: Tool | None = None


class ToolChoice(Struct):
    """`tool_choice`."""

    type: str
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class ThinkingConfig(Struct):
    """`thinking`."""

    type: str
    budget_tokens: int | None = None
    display: str | None = None


class Format(Struct):
    """`output_config.format`."""

    type: str
    schema: dict[str, Raw] | None = None


class OutputConfig(Struct):
    """`output_config`."""

    effort: str | None = None
    format: Format | None = None


class Metadata(Struct):
    """`metadata`."""

    user_id: str | None = None


class Request(Struct):
    """The fields of a request that this gateway knows."""

    model: str | None = None
    messages: list[Message] | None = None
    max_tokens: int | None = None
    system: str | list[Block] | None = None
    stream: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    thinking: ThinkingConfig | None = None
    output_config: OutputConfig | None = None
    metadata: Metadata | None = None
    service_tier: str | None = None
    models: list[str] | None = None
    container: Raw = NULL
    mcp_servers: Raw = NULL


REQUEST = msgspec.json.Decoder(Request)
BLOCKS = msgspec.json.Decoder(str | list[Block])
SOURCE = msgspec.json.Decoder(Source)
CHANGE = msgspec.json.Decoder(Change)
