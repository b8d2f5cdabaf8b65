"""What a caller is told about a field of the wrong type, from the decoder's own words.

The decoder says where (`$.messages[0].role`) and what it saw; the table says what would be right.
"""

import re
from collections.abc import Mapping

import msgspec

from zurelay.chat import problems
from zurelay.chat.effort import SCALE
from zurelay.chat.problems import Problem

ROLES = ("system", "developer", "user", "assistant", "tool")
PART_TYPES = ("text", "image_url", "input_audio", "file", "video_url")


def words(items: tuple[str, ...], last: str = "or") -> str:
    """`'a', 'b' or 'c'`."""
    quoted = [f"'{item}'" for item in items]
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}" if len(quoted) > 1 else quoted[0]


RIGHT = {
    "model": "the id of a model as a string (GET /v1/models lists them)",
    "messages": "a list of messages",
    "messages[]": "an object with 'role' and 'content'",
    "messages[].role": f"one of {words(ROLES)}",
    "messages[].content": "a string or a list of content parts",
    "messages[].content[]": "a content part: an object with 'type'",
    "messages[].content[].type": f"one of {words(PART_TYPES)}",
    "messages[].content[].image_url": "an object with 'url'",
    "messages[].content[].image_url.url": "an http(s) URL or a data URL",
    "messages[].content[].video_url": "an object with 'url'",
    "messages[].content[].video_url.url": "an http(s) URL or a data URL",
    "messages[].content[].input_audio": "an object with 'data' (base64) and 'format'",
    "messages[].content[].file": "an object with 'file_data' (a data URL) and 'filename'",
    "messages[].content[].file.file_data": "a data URL such as 'data:application/pdf;base64,...'",
    "messages[].tool_calls": "a list of tool calls",
    "messages[].tool_calls[]": "an object with 'id', 'type' and 'function'",
    "messages[].tool_calls[].function": "an object with 'name' and 'arguments'",
    "messages[].tool_calls[].function.arguments": "a string holding JSON",
    "messages[].tool_call_id": "the id of the tool call that this message answers",
    "stream": "true or false",
    "stream_options": 'an object such as {"include_usage": true}',
    "stream_options.include_usage": "true or false",
    "max_completion_tokens": "a whole number of at least 1",
    "max_tokens": "a whole number of at least 1",
    "n": "a whole number from 1 to 128",
    "temperature": "a number from 0 to 2",
    "top_p": "a number from 0 to 1",
    "stop": "a string or a list of up to 4 strings",
    "stop[]": "a string",
    "tools": "a list of tools",
    "tools[]": "an object with 'type' and 'function'",
    "tools[].type": "'function' or 'custom'",
    "tools[].function": "an object with 'name', 'description' and 'parameters'",
    "tools[].function.name": "a string of 1 to 128 characters",
    "tools[].function.parameters": "a JSON schema: an object",
    "tools[].function.strict": "true or false",
    "tool_choice": "'none', 'auto', 'required' or an object that names a tool",
    "tool_choice.type": "'function', 'custom' or 'allowed_tools'",
    "tool_choice.function": "an object with 'name'",
    "parallel_tool_calls": "true or false",
    "response_format": "an object with 'type'",
    "response_format.type": "'text', 'json_object' or 'json_schema'",
    "response_format.json_schema": "an object with 'name' and 'schema'",
    "response_format.json_schema.schema": "a JSON schema: an object",
    "response_format.json_schema.strict": "true or false",
    "reasoning_effort": f"one of {words(SCALE)}",
    "seed": "a whole number",
    "models": "a list of up to 8 model ids",
    "models[]": "the id of a model as a string",
    "user": "a string of at most 256 characters",
    "metadata": "at most 16 pairs of strings, keys up to 64 and values up to 512 characters",
    "safety_identifier": "a string of at most 256 characters",
    "prompt_cache_key": "a string",
}
"""Field path, list places left out -> what would be right."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_PLACE = re.compile(r"\[(?:\d+|\.\.\.)\]")
_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_TYPES = re.compile(r"Expected `(?P<right>[^`]*)`, got `(?P<got>[^`]*)`")
_MISSING = re.compile(r"missing required field `(?P<field>[^`]*)`")


def invalid(param: str, got: str = "", table: Mapping[str, str] = RIGHT) -> Problem:
    """400: the field at `param` is not what the table says; `got` tells what it is."""
    right = table.get(_PLACE.sub("[]", param), "")
    told = f"Invalid value for '{param}': expected {right}" if right else f"Invalid '{param}'"
    return problems.invalid_value(param, f"{told}, but got {got}." if got else f"{told}.")


def missing(param: str, table: Mapping[str, str] = RIGHT) -> Problem:
    """400: the field at `param` is left out."""
    right = table.get(_PLACE.sub("[]", param))
    if right is None:
        return problems.missing(param)
    return problems.missing(param, f"Missing required parameter: '{param}', {right}.")


def of_decoder(error: msgspec.ValidationError, table: Mapping[str, str] = RIGHT) -> Problem:
    """The problem behind a decoder's error about types."""
    found = _AT.match(str(error))
    what = found["what"] if found else str(error)
    path = ((found["path"] if found else None) or "$").removeprefix("$").removeprefix(".")
    gone = _MISSING.search(what)
    if gone:
        return missing(f"{path}.{gone['field']}" if path else gone["field"], table)
    kinds = _TYPES.search(what)
    got = _KINDS.get(kinds["got"], "") if kinds else ""
    if not path:
        return problems.invalid_json(f"The body must be a JSON object, but it is {got or 'not'}.")
    param = path.removesuffix("[...]")
    pattern = _PLACE.sub("[]", param)
    if pattern in table or kinds is None:
        return invalid(param, got, table)
    right = " or ".join(
        _KINDS.get(kind, kind) for kind in kinds["right"].split(" | ") if kind != "null"
    )
    return problems.invalid_value(
        param, f"Invalid value for '{param}': expected {right}, but got {got or 'something else'}."
    )
