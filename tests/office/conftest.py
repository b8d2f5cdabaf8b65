import pytest

from tests.office.people import NOON
from tests.store.conftest import store
from tests.store.rows import Clock
from zurelay.office.desk import Desk
from zurelay.store.engine import Store

__all__ = ["store"]  # the fixture: on SQLite and on PostgreSQL


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def desk(store: Store, clock: Clock) -> Desk:
    return Desk(store, clock)
