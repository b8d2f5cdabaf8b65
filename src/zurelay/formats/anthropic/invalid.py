"""What a caller of Messages is told about a field that is wrong: the path and what is right."""

import msgspec

from zurelay.chat.problems import Problem
from zurelay.formats.openai_chat import invalid as told

ROLES = ("user", "assistant", "system")
RIGHT = {
    "model": "the id of a model as a string (GET /v1/models lists them)",
    "messages": "a list of messages",
    "messages[]": "an object with 'role' and 'content'",
    "messages[].role": f"one of {told.words(ROLES)}",
    "messages[].content": "a string or a list of content blocks, not empty",
    "messages[].output_config": "an object with 'effort'",
    "messages[].output_config.effort": "an effort level as a string",
    "messages[].content[]": "a content block: an object with 'type'",
    "messages[].content[].text": "a string",
    "messages[].content[].source": "an object with 'type' base64, url, text, content or file",
    "messages[].content[].source.content": "a string or a list of content blocks",
    "messages[].content[].id": "the id of the tool call as a string",
    "messages[].content[].name": "the name of a tool as a string",
    "messages[].content[].input": "an object",
    "messages[].content[].tool_use_id": "the id of the 'tool_use' block that it answers",
    "messages[].content[].content": "a string or a list of content blocks",
    "messages[].content[].thinking": "a string",
    "messages[].content[].data": "a string",
    "messages[].content[].tool": "an object with 'name' of one of 'tools', or with 'definition'",
    "messages[].content[].tool.definition.name": "a string of 1 to 128 characters",
    "messages[].content[].tool.definition.input_schema": "a JSON schema: an object",
    "max_tokens": "a whole number of at least 0",
    "system": "a string or a list of text blocks",
    "system[].text": "a string",
    "stream": "true or false",
    "temperature": "a number from 0 to 1",
    "top_p": "a number from 0 to 1",
    "top_k": "a whole number of at least 0",
    "stop_sequences": "a list of strings, none of them empty",
    "stop_sequences[]": "a string that is not empty",
    "tools": "a list of tools",
    "tools[]": "an object with 'name' and 'input_schema'",
    "tools[].name": "a string of 1 to 128 characters",
    "tools[].input_schema": "a JSON schema: an object",
    "tool_choice": "an object with 'type'",
    "tool_choice.type": "'auto', 'any', 'tool' or 'none'",
    "tool_choice.name": "the name of one of 'tools'",
    "thinking": "an object with 'type'",
    "thinking.type": "'adaptive', 'enabled', 'disabled' or 'between_tools'",
    "thinking.budget_tokens": "a whole number of at least 1024",
    "output_config": "an object with 'effort' or 'format'",
    "output_config.effort": "an effort level as a string",
    "output_config.format": "an object with 'type' and 'schema'",
    "output_config.format.type": "'json_schema'",
    "output_config.format.schema": "a JSON schema: an object",
    "metadata": "an object with 'user_id'",
    "metadata.user_id": "a string of at most 512 characters",
    "service_tier": "a string",
    "models": "a list of up to 8 model ids",
    "models[]": "the id of a model as a string",
}
"""Field path, list places left out -> what would be right."""


def invalid(param: str, got: str = "") -> Problem:
    """400: the field at `param` is not what the table says; `got` tells what it is."""
    return told.invalid(param, got, RIGHT)


def missing(param: str) -> Problem:
    """400: the field at `param` is left out."""
    return told.missing(param, RIGHT)


def of_decoder(error: msgspec.ValidationError) -> Problem:
    """The problem behind a decoder's error about types."""
    return told.of_decoder(error, RIGHT)
