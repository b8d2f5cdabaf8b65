import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.app.conftest import until
from tests.plan.made import fail, provider, route, served, succeed, table
from zurelay.app import reporting
from zurelay.app.reporting import Reporting
from zurelay.chat.faults import FaultKind
from zurelay.plan.health import Health
from zurelay.plan.report import Standing, decoded
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.route_reports import RouteReport, list_reports

ROUTES = [route(provider(f"p{number}")) for number in range(120)]
TABLE = table(served("m", ROUTES))


class Process:
    """One that tells, and what it knows."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.health = Health()
        self.redact: Callable[[str], str] = str.upper
        self.reporting = Reporting(
            store, ("j1", "gw:worker-1"), lambda: TABLE, self.health, lambda: self.redact
        )

    def rows(self) -> list[RouteReport]:
        with self.store.read() as connection:
            return list_reports(connection)

    def told(self) -> dict[str, Standing]:
        (row,) = self.rows()
        assert (row.node, row.name) == ("j1", "gw:worker-1")
        return decoded(row.routes) or {}

    def put_back(self, seconds: int) -> None:
        with self.store.write() as connection:
            connection.execute(
                text("UPDATE route_report SET told_ms = told_ms - :ms, seen_ms = seen_ms - :ms"),
                {"ms": seconds * 1000},
            )


@pytest.fixture
async def process(tmp_path: Path, store_url: str) -> AsyncIterator[Process]:
    store = open_store(tmp_path, store_url)
    made = Process(store)
    yield made
    await made.reporting.close()
    await made.reporting.close()
    store.close()


async def test_only_what_is_not_idle_is_told(process: Process) -> None:
    await process.reporting.round()
    assert process.told() == {}
    now = asyncio.get_running_loop().time()
    process.health.began(ROUTES[3], now)
    fail(process.health, ROUTES[110], FaultKind.SERVER_ERROR, now)
    await process.reporting.round()
    told = process.told()
    assert list(told) == ["p3:u", "p110:u"]
    assert told["p3:u"] == Standing(in_flight=1)
    assert told["p110:u"].last_errors[0].message == "WORDS"
    process.health.neutral(ROUTES[3])
    await process.reporting.round()
    assert list(process.told()) == ["p110:u"]


async def test_what_did_not_change_is_not_written_again(process: Process) -> None:
    now = asyncio.get_running_loop().time()
    fail(process.health, ROUTES[0], FaultKind.REFUSED_CREDENTIAL, now)
    await process.reporting.round()
    process.put_back(1000)
    await process.reporting.round()
    (row,) = process.rows()
    assert row.told_s >= 1000
    assert row.silent_s < 500, "but it is said that it is still so"
    succeed(process.health, ROUTES[1], asyncio.get_running_loop().time())
    await process.reporting.round()
    (row,) = process.rows()
    assert row.told_s < 500


async def test_words_are_made_fit_once_until_what_is_hidden_changes(process: Process) -> None:
    asked: list[str] = []

    def redact(text: str) -> str:
        asked.append(text)
        return "[hidden]"

    def fails(number: int) -> None:
        now = asyncio.get_running_loop().time()
        fail(process.health, ROUTES[number], FaultKind.SERVER_ERROR, now)

    process.redact = redact
    for number in range(3):
        fails(number)
        await process.reporting.round()
    assert asked == ["words"]
    process.redact = str.title
    fails(3)
    await process.reporting.round()
    said = [error.message for one in process.told().values() for error in one.last_errors]
    assert said == ["Words"] * 4


async def test_a_word_that_was_swept_away_is_told_again(process: Process) -> None:
    await process.reporting.round()
    with process.store.write() as connection:
        connection.execute(text("DELETE FROM route_report"))
    await process.reporting.round()
    assert process.told() == {}


async def test_a_process_that_ends_takes_its_word_back(process: Process) -> None:
    await process.reporting.round()
    await process.reporting.close()
    assert process.rows() == []


async def test_while_the_store_is_away_one_error_is_logged_and_it_tells_when_it_is_back(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    await process.reporting.round()
    said: list[str] = []
    with monkeypatch.context() as patch:

        def away(*_: object) -> bool:
            raise StoreError("it is away")

        patch.setattr(reporting, "still", away)
        patch.setattr(reporting, "tell", away)
        patch.setattr(reporting.log, "error", lambda text, **_: said.append(text))
        await process.reporting.round()
        await process.reporting.round()
    assert said == ["how routes stand is not told"]
    process.put_back(1000)
    await process.reporting.round()
    (row,) = process.rows()
    assert row.told_s < 500, "what came of the last words is not known"


async def test_a_round_that_fails_is_not_the_last(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "ROUND_S", 0.0)
    monkeypatch.setattr(reporting.log, "exception", lambda _: None)
    failed: list[bool] = []
    look = process.health.snapshot

    def broken(*arguments: object) -> object:
        if not failed:
            failed.append(True)
            raise ZeroDivisionError
        return look(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Health, "snapshot", lambda _, *arguments: broken(*arguments))
    running = asyncio.create_task(process.reporting.run())
    await until(lambda: bool(process.rows()))
    assert failed
    running.cancel()
    await asyncio.wait([running])
