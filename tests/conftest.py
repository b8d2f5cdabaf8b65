from collections.abc import Iterator

import pytest

from tests.served import Served, serve


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One gateway process with the sandbox models, shared by all tests from the outside."""
    config = "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0\n"
    with serve(tmp_path_factory.mktemp("served"), config) as gateway:
        yield gateway
