"""A gateway before upstreams that are strict: Claude, and OpenAI's two endpoints."""

from collections.abc import AsyncIterator

import pytest

from tests.app import strict
from tests.app.conftest import Caller, Start
from zurelay.testing.upstream import ScriptedUpstream


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=strict.claude) as server:
        yield server


@pytest.fixture
async def second() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(answer=strict.openai) as server:
        yield server


@pytest.fixture
async def caller(start: Start, upstream: ScriptedUpstream, second: ScriptedUpstream) -> Caller:
    return await start(strict.config(upstream, second))
