import time
from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.served import Served


@pytest.fixture
def client(served: Served) -> Iterator[OpenAI]:
    """The official SDK as a user makes it, without second tries."""
    with OpenAI(base_url=served.base_url, api_key=served.key, max_retries=0, timeout=20) as made:
        yield made


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the SDK slept before each new try; the sleeping itself is left out."""
    taken: list[float] = []
    monkeypatch.setattr(time, "sleep", taken.append)
    return taken
