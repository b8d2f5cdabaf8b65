"""A whole gateway with its console, and people of every role."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.console.people import Person, person
from zurelay.testing.gateway import RunningGateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with RunningGateway(tmp_path) as running:
        yield running


@pytest.fixture
def people(gateway: RunningGateway) -> Callable[[str], Person]:
    """Makes somebody with a role: owner, admin, member, read-only, or nobody."""
    known: dict[str, Person] = {}

    def of(role: str) -> Person:
        if role not in known:
            known[role] = person(gateway, role)
        return known[role]

    return of
