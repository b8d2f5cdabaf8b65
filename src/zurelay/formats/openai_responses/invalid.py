"""What a caller of Responses is told about a field that is wrong: the path and what is right."""

import msgspec

from zurelay.chat.problems import Problem
from zurelay.formats.openai_chat import invalid as told

ROLES = ("user", "assistant", "system", "developer")
INPUT_PARTS = ("input_text", "input_image", "input_file", "input_audio")
ASSISTANT_PARTS = ("output_text", "refusal")
EFFORTS = told.RIGHT["reasoning_effort"]
RIGHT = {
    **{name: told.RIGHT[name] for name in ("model", "stream", "temperature", "top_p", "tools")},
    **{name: told.RIGHT[name] for name in ("models", "models[]", "user", "metadata")},
    "safety_identifier": told.RIGHT["safety_identifier"],
    "prompt_cache_key": told.RIGHT["prompt_cache_key"],
    "parallel_tool_calls": told.RIGHT["parallel_tool_calls"],
    "input": "a string or a list of items, not empty",
    "input[]": "an item: an object with 'type'",
    "input[].role": f"one of {told.words(ROLES)}",
    "input[].content": "a string or a list of content parts",
    "input[].content[]": "a content part: an object with 'type'",
    "input[].content[].text": "a string",
    "input[].content[].refusal": "a string",
    "input[].content[].image_url": "an http(s) URL or a data URL",
    "input[].content[].file_url": "an http(s) URL",
    "input[].content[].file_data": "a data URL such as 'data:application/pdf;base64,...'",
    "input[].content[].input_audio": "an object with 'data' (base64) and 'format'",
    "input[].call_id": "the id of the call as a string",
    "input[].name": "the name of a tool as a string",
    "input[].arguments": "a string holding JSON",
    "input[].input": "a string",
    "input[].output": "a string or a list of content parts",
    "input[].summary": "a list of parts of type 'summary_text'",
    "input[].encrypted_content": "a string",
    "instructions": "a string",
    "max_output_tokens": "a whole number of at least 1",
    "top_logprobs": "a whole number from 0 to 20",
    "tools[]": "an object with 'type' and 'name'",
    "tools[].name": "a string of 1 to 128 characters",
    "tools[].parameters": "a JSON schema: an object",
    "tools[].strict": "true or false",
    "tool_choice": "'none', 'auto', 'required' or an object that names a tool",
    "tool_choice.type": "'function', 'custom' or 'allowed_tools'",
    "tool_choice.name": "the name of one of 'tools'",
    "tool_choice.tools": "a list of objects with 'type' and 'name'",
    "tool_choice.mode": "'auto' or 'required'",
    "text": "an object with 'format' or 'verbosity'",
    "text.format": "an object with 'type'",
    "text.format.type": "'text', 'json_object' or 'json_schema'",
    "text.format.name": "a string",
    "text.format.schema": "a JSON schema: an object",
    "text.verbosity": "'low', 'medium' or 'high'",
    "reasoning": 'an object such as {"effort": "low"}',
    "reasoning.effort": EFFORTS,
    "include": "a list of strings",
    "include[]": "a string",
    "store": "true or false",
    "background": "true or false",
    "previous_response_id": "a string",
    "truncation": "'auto' or 'disabled'",
}
"""Field path, list places left out -> what would be right."""


def invalid(param: str, got: str = "") -> Problem:
    """400: the field at `param` is not what the table says; `got` tells what it is."""
    return told.invalid(param, got, RIGHT)


def missing(param: str) -> Problem:
    """400: the field at `param` is left out."""
    return told.missing(param, RIGHT)


def of_decoder(error: msgspec.ValidationError, path: str = "") -> Problem:
    """The problem behind a decoder's error about types; `path` is where its value stands."""
    if path:
        text = str(error)
        text = text.replace("`$", f"`$.{path}", 1) if "`$" in text else f"{text} - at `$.{path}`"
        error = msgspec.ValidationError(text)
    return told.of_decoder(error, RIGHT)
