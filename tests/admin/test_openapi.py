from typing import Any

from tests.admin.conftest import Admin
from zurelay.admin.application import ENDPOINTS, PATH
from zurelay.admin.openapi import document, roles

DOCUMENT = document(ENDPOINTS, PATH)


def operations() -> dict[str, Any]:
    return {
        operation["operationId"]: operation
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
    }


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        found = {value["$ref"]} if "$ref" in value else set()
        return found.union(*map(references, value.values()))
    if isinstance(value, list):
        return set().union(*map(references, value))
    return set()


def test_every_endpoint_is_described_once_and_every_reference_leads_somewhere() -> None:
    assert set(operations()) == {endpoint.name for endpoint in ENDPOINTS}
    assert len(operations()) == len(ENDPOINTS)
    schemas = DOCUMENT["components"]["schemas"]
    assert {ref.rpartition("/")[2] for ref in references(DOCUMENT)} <= set(schemas)
    assert DOCUMENT["openapi"].startswith("3.1")


def test_bodies_are_strict_and_fields_of_queries_have_no_null() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for operation in operations().values():
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert schemas[schema["$ref"].rpartition("/")[2]]["additionalProperties"] is False
        for parameter in operation["parameters"]:
            assert "anyOf" not in parameter["schema"]
            assert None not in parameter["schema"].get("enum", ())


def test_a_parameter_that_holds_pairs_says_how_they_are_written() -> None:
    parameters = {p["name"]: p for p in operations()["listRequests"]["parameters"]}
    assert parameters["metadata"]["style"] == "deepObject"
    assert parameters["limit"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 500,
        "default": 50,
    }
    price = {p["name"]: p["required"] for p in operations()["deletePrice"]["parameters"]}
    assert price == {"model": True, "since": False}


def test_who_may_call_an_endpoint_stands_in_its_description() -> None:
    by_name = {endpoint.name: endpoint for endpoint in ENDPOINTS}
    assert roles(by_name["erasePersonalData"]) == ["owner"]
    assert roles(by_name["createKey"]) == ["owner", "admin", "member"]
    assert roles(by_name["getDocument"]) == ["owner", "admin", "member", "read-only"]
    assert "Roles: owner, admin." in operations()["creditAccount"]["description"]


async def test_the_document_is_served(admin: Admin) -> None:
    assert await admin.get("/openapi.json", role="member") == DOCUMENT
