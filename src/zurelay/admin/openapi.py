"""The OpenAPI 3.1 document of the admin API, made from its endpoints and their types."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import msgspec

from zurelay import __version__
from zurelay.admin.endpoint import Endpoint, NoQuery
from zurelay.office.rights import RIGHTS

_REFERENCE: Final = "#/components/schemas/{name}"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")

_FAULTS = {
    "400": "A field has a value that it cannot have; `error.param` names it.",
    "401": "No admin token was shown, or one that does not work.",
    "403": "The token's role may not do this.",
    "404": "There is nothing of that name or id, for this token.",
    "409": "It cannot be so beside what is there.",
    "413": "The body is larger than 1 MiB.",
    "503": "The store does not answer; try again after `retry-after` seconds.",
}


class Fault(msgspec.Struct):
    """What is wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class FaultView(msgspec.Struct):
    """What is answered instead."""

    error: Fault


def document(endpoints: Sequence[Endpoint], path: str) -> dict[str, Any]:
    """The document.

    Args:
        endpoints: all there are.
        path: where the API stands, such as `/api/v1`.
    """
    types = [
        FaultView,
        *(e.answer for e in endpoints if e.answer is not None),
        *(e.body for e in endpoints if e.body is not None),
    ]
    each = list(dict.fromkeys(types))
    references, schemas = msgspec.json.schema_components(each, ref_template=_REFERENCE)
    by_type = dict(zip(each, references, strict=True))
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        operations = paths.setdefault(f"{path}{endpoint.path}", {})
        operations[endpoint.method.lower()] = _operation(endpoint, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Zurelay admin API",
            "version": __version__,
            "description": "Amounts are decimal strings of US dollars, times RFC 3339 in UTC.",
        },
        "security": [{"adminToken": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "adminToken": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "zka-..., made by `zurelay tokens create`",
                }
            },
        },
    }


def roles(endpoint: Endpoint) -> list[str]:
    """Who may call it."""
    return [role for role, rights in RIGHTS.items() if endpoint.right in (None, *rights)]


def _operation(endpoint: Endpoint, by_type: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": f"Roles: {', '.join(roles(endpoint))}.",
        "parameters": [*_path_parameters(endpoint.path), *_query_parameters(endpoint.query)],
        "responses": _responses(endpoint, by_type),
    }
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": by_type[endpoint.body]}},
        }
    return operation


def _responses(endpoint: Endpoint, by_type: dict[Any, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for media_type in endpoint.media_types:
        is_json = media_type == "application/json"
        schema = by_type[endpoint.answer] if is_json else {"type": "string"}
        content[media_type] = {"schema": schema}
    responses: dict[str, Any] = {str(endpoint.status): {"description": "Done.", "content": content}}
    fault = {"application/json": {"schema": by_type[FaultView]}}
    for status, description in _FAULTS.items():
        if status != "413" or endpoint.body is not None:
            responses[status] = {"description": description, "content": fault}
    return responses


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        }
        for name in _PLACEHOLDER.findall(path)
    ]


@cache
def _query_parameters(query: type[msgspec.Struct]) -> tuple[dict[str, Any], ...]:
    if query is NoQuery:
        return ()
    schema = msgspec.json.schema(query)["$defs"][query.__name__]
    parameters = []
    for name, field in schema["properties"].items():
        shape = _without_null(field)
        parameter: dict[str, Any] = {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "schema": shape,
        }
        if "description" in shape:
            parameter["description"] = shape.pop("description")
        if shape.get("type") == "object":
            parameter |= {"style": "deepObject", "explode": True}
        parameters.append(parameter)
    return tuple(parameters)


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """A query has no null: what may be left out is left out."""
    field = {name: value for name, value in field.items() if name != "default" or value}
    kinds = field.pop("anyOf", None)
    if kinds is not None:
        (kind,) = (kind for kind in kinds if kind != {"type": "null"})
        return {**kind, **field}
    if None in field.get("enum", ()):
        field["enum"] = [word for word in field["enum"] if word is not None]
    return field
