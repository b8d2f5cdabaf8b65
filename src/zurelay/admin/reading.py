"""Reading calls: query and body into typed structs, strictly. Every fault names its field.

Knows no endpoint.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request

from zurelay.chat import problems
from zurelay.chat.nearest import did_you_mean
from zurelay.chat.problems import Problem, Refused

_T = TypeVar("_T", bound=msgspec.Struct)

MAX_BODY: Final = 1024 * 1024
MOST_PARAMETERS: Final = 100

_EXACT: Final = 2**53
"""Below it every whole number is a float of its own."""

_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>\$[^`]*|key in `\$[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(?P<field>.*)`", re.DOTALL)
_MISSING = re.compile(r"missing required field `(?P<field>[^`]*)`")
_DEEP = re.compile(r"(?P<name>\w+)\[(?P<key>[^\[\]]+)\]")


def read_query(query: bytes, type_: type[_T]) -> _T:
    """The query of a call. Raises Refused: 400."""
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_PARAMETERS,
        )
    except ValueError:
        raise Refused(
            problems.invalid_value(
                "query", "The query is no text in UTF-8, or has too many fields."
            )
        ) from None
    values: dict[str, Any] = {}
    for name, value in pairs:
        deep = _DEEP.fullmatch(name)
        place, key = (values, name)
        if deep is not None and deep["name"] in _tables(type_):
            place, key = values.setdefault(deep["name"], {}), deep["key"]
        if key in place:
            raise Refused(problems.invalid_value(name[:100], f"{name[:100]}: it stands twice."))
        place[key] = value
    found = _converted(values, type_, strict=False)
    for field in msgspec.structs.fields(type_):  # the word null is no way to leave one out
        if field.encode_name in values and getattr(found, field.name) is None:
            told = f"{field.encode_name}: write a value, or leave it out."
            raise Refused(problems.invalid_value(field.encode_name, told))
    return found


async def read_body(request: Request, type_: type[_T]) -> _T:
    """The JSON body of a call. Raises Refused: 400, 413."""
    length = request.headers.get("content-length", "0")
    parts, size = [], int(length) if length.isascii() and length.isdigit() else 0
    if size <= MAX_BODY:
        size = 0
        try:
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > MAX_BODY:
                    break
        except ClientDisconnect:
            raise Refused(problems.slow_body()) from None
    if size > MAX_BODY:
        raise Refused(problems.too_large("The body is larger than 1 MiB."))
    try:
        value = msgspec.json.decode(b"".join(parts))
    except (msgspec.DecodeError, RecursionError):
        message = "The body is no JSON in UTF-8; send a JSON object."
        raise Refused(problems.invalid_json(message)) from None
    if not isinstance(value, dict):
        raise Refused(problems.invalid_json("The body must be a JSON object."))
    try:
        return _converted(value, type_, strict=True)
    except RecursionError:
        raise Refused(problems.invalid_json("The body is nested too deeply.")) from None


def no_nul(values: Iterable[str]) -> None:
    """Refuse text that no database holds. Raises Refused: 404, since nothing is called so."""
    if any("\0" in value for value in values):
        raise Refused(problems.not_found("There is nothing of that name."))


def _converted(value: dict[str, Any], type_: type[_T], *, strict: bool) -> _T:
    try:
        return msgspec.convert(_checked(value, ""), type_, strict=strict)
    except msgspec.ValidationError as error:
        raise Refused(problem_of(error, type_)) from None


def problem_of(error: msgspec.ValidationError, type_: type[msgspec.Struct]) -> Problem:
    """The problem behind what msgspec says of a value."""
    found = _AT.match(str(error))
    what, path = (found["what"], found["path"] or "$") if found else (str(error), "$")
    above = path.removeprefix("key in `").removeprefix("$").removeprefix(".")
    unknown = _UNKNOWN.search(what)
    if unknown is not None:
        field = unknown["field"][:100]
        param = f"{above}.{field}" if above else field
        hint = did_you_mean(field, _fields(type_))
        return problems.invalid_value(param, f"{_printable(param)}: there is no such field.{hint}")
    missing = _MISSING.search(what)
    if missing is not None:
        return problems.missing(f"{above}.{missing['field']}" if above else missing["field"])
    param = above or "body"
    return problems.invalid_value(param, f"{_printable(param)}: {what[:1].lower()}{what[1:]}.")


def _fields(type_: Any) -> set[str]:
    """Names of all fields of a struct, those of structs within it too."""
    names = set()
    for field in msgspec.structs.fields(type_):
        names.add(field.encode_name)
        for inner in (field.type, *get_args(field.type)):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                names |= _fields(inner)
    return names


def _tables(type_: type[msgspec.Struct]) -> set[str]:
    """Names of the fields that hold pairs, written as `field[key]=value`."""
    return {
        field.encode_name
        for field in msgspec.structs.fields(type_)
        if get_origin(field.type) is dict
    }


def _checked(value: object, path: str) -> object:
    """The value with whole numbers as integers, which JSON does not tell apart from others.

    Raises:
        Refused: 400 for a NUL anywhere: no database holds it.
    """
    if isinstance(value, str):
        if "\0" in value:
            param = path or "body"
            raise Refused(problems.invalid_value(param, f"{_printable(param)}: it has a NUL."))
    elif isinstance(value, Mapping):
        pairs = {}
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            _checked(str(name), inner)
            pairs[name] = _checked(item, inner[:200])
        return pairs
    elif isinstance(value, list):
        return [_checked(item, f"{path}[{place}]"[:200]) for place, item in enumerate(value)]
    elif isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text[:200])
