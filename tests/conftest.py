import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.served import Served, serve
from tests.servers import PostgreSQL, postgresql_server
from tests.valkey_server import ValkeyServer, valkey
from zurelay.telemetry import logs

# A busy machine must not fail a property: how long an example takes says nothing of the code.
settings.register_profile("zurelay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zurelay")


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Logging is the process's own: a command run in a test must not leave it on a closed stream."""
    root = logging.getLogger()
    handlers, level, write = root.handlers[:], root.level, logs._requests.write
    config = structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logs._requests.write = write
    structlog.configure(**config)


CONTENT_KEY = "only-in-tests-0123456789abcdef-01"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One gateway process with the sandbox models, shared by all tests from the outside."""
    config = (
        f'[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n[log]\ncontent_key = "{CONTENT_KEY}"\n'
    )
    with serve(tmp_path_factory.mktemp("served"), config) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """One PostgreSQL, shared by all tests. A test that stops its server makes its own."""
    with postgresql_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """`storage.url` of a fresh store: a test that asks for it runs on both databases."""
    if request.param == "sqlite":
        yield ""
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    with server.database() as url:
        yield url


@pytest.fixture(scope="session")
def shared_valkey() -> Iterator[ValkeyServer]:
    """One Valkey for all tests, never stopped. A test that stops its server makes its own."""
    with valkey() as server:
        yield server
