"""Every endpoint of the admin API called with what its description allows and forbids.

Whatever comes: no 5xx, only answers that the description knows, in the shape it says; what it
forbids is refused. By a gateway in a process of its own, whose keys may be revoked.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from tests.served import Served, serve
from tests.store.rows import a_record, entry
from zurelay.admin.application import ENDPOINTS, PATH
from zurelay.admin.openapi import document
from zurelay.office.accounts import get_account
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.members import NewMember, add
from zurelay.office.rights import Actor
from zurelay.office.tokens import NewToken, create_token
from zurelay.store.engine import open_store
from zurelay.store.requests import add_requests

EXAMPLES = 5
SLOW = {"erasePersonalData": 2, "debitAccount": 3}
"""Those that wait for nodes."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
OWNER = Actor("test", "owner")


@dataclass
class Fuzzed:
    """A gateway, a token for it, and names of what there is, by placeholder."""

    gateway: Served
    token: str
    names: dict[str, str]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    config = "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n"
    with serve(tmp_path_factory.mktemp("fuzzed"), config) as gateway:
        store = open_store(gateway.folder / "zurelay-data")
        desk = Desk(store)
        account = get_account(desk, OWNER, "default")
        record = a_record(desk.clock(), account=account.id)
        with store.write() as connection:
            add_requests(connection, [entry(record)])
        names = {
            "account": account.id,  # it may be renamed
            "member": add(desk, OWNER, "default", NewMember("a@b.c", "A")).id,
            "key": create_key(desk, OWNER, NewKey("alice")).details.id,
            "token": create_token(desk, OWNER, NewToken("other")).details.id,
            "request": record.id,
            "month": account.created[:7],
        }
        token = create_token(desk, OWNER, NewToken("fuzz", "owner")).token
        yield Fuzzed(gateway, token, names)
        store.close()


def operations() -> dict[str, Any]:
    # Without `security` nothing is tried on the header, which other tests try.
    described = {
        name: part for name, part in document(ENDPOINTS, PATH).items() if name != "security"
    }
    found: Any = schemathesis.openapi.from_dict(described).get_all_operations()
    return {one.ok().definition.raw["operationId"]: one.ok() for one in found}


OPERATIONS = operations()
NUMBERS = itertools.count()


SENSIBLE: dict[str, Any] = {
    "model": "sandbox/echo",
    "models": ["sandbox/*"],
    "zone": "Europe/Brussels",
    "expires": "2099-12-31",
    "since": "2026-01-31",
    "until": "2099-01-31T12:00:00Z",
    "email": "m{}@example.com",
    "name": "name {}",
    "ref": "ref-{}",
    "note": "=1+1",
    "user": "ann",
    "price": {"input": "1.00", "output": "2.00"},
    "target": "key_1",
}
"""What a schema cannot say of fields by these names, so that most allowed calls succeed."""


def sensible(case: Any, names: dict[str, str]) -> None:
    """Let a call that is allowed also be about something that is there."""
    for name in case.path_parameters or ():
        case.path_parameters[name] = names[name]
    for fields in (case.query, case.body):
        if not isinstance(fields, dict):
            continue
        fields.pop("cursor", None)
        for name in set(fields) & {*SENSIBLE, "account", "key"}:
            value = SENSIBLE.get(name, names.get(name))
            if fields[name] is not None:
                fields[name] = value.format(next(NUMBERS)) if isinstance(value, str) else value


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_endpoint_keeps_to_its_description(
    name: str, mode: GenerationMode, fuzzed: Fuzzed
) -> None:
    positive = mode is GenerationMode.POSITIVE
    described = OPERATIONS[name].definition.raw
    if not positive and not described["parameters"] and "requestBody" not in described:
        return  # nothing of it can be forbidden
    checks = CHECKS if positive else [*CHECKS, negative_data_rejection]

    @settings(
        max_examples=SLOW.get(name, EXAMPLES),
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(OPERATIONS[name].as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if positive:
            sensible(case, fuzzed.names)
        shown = {"authorization": f"Bearer {fuzzed.token}"}
        answer = case.call(base_url=fuzzed.gateway.origin, headers=shown)
        case.validate_response(answer, checks=checks)

    ask()
