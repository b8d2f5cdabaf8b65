from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.office.people import ADMIN, MEMBER, READER, refusal
from tests.plan.made import fail, provider, route, served, succeed, table
from tests.servers import PostgreSQL
from tests.store.rows import with_account
from zurelay.chat.faults import FaultKind
from zurelay.office import routes
from zurelay.office.desk import Desk
from zurelay.office.routes import SILENT_S, Own, picture
from zurelay.plan.health import Health
from zurelay.plan.report import encoded, shown, states_of
from zurelay.store.engine import Store, open_store
from zurelay.store.errors import StoreError
from zurelay.store.route_reports import FORGOTTEN_S, still, tell

ROUTE = route(provider("a"))
TABLE = table(served("m", [ROUTE]))
WORKED = Health()
succeed(WORKED, ROUTE, 10.0)
FAILED = Health()
fail(FAILED, ROUTE, FaultKind.RATE_LIMITED, 10.0, retry_after=600)
OWN = Own("j1", "gw:worker-1", states_of(TABLE, WORKED, 11.0), str)


def told(store: Store, node: str, words: str | None = None, silent_s: float = 0) -> None:
    if words is None:
        words = encoded(shown(states_of(TABLE, FAILED, 11.0), str))
    with store.write() as connection:
        tell(connection, node, f"gw:{node}", words)
        connection.execute(
            text(
                "UPDATE route_report SET told_ms = told_ms - :ms, seen_ms = seen_ms - :ms"
                " WHERE node = :node"
            ),
            {"ms": int(silent_s * 1000), "node": node},
        )


@pytest.fixture
def shared(tmp_path: Path, postgresql: PostgreSQL) -> Any:
    """A store that processes share."""
    with postgresql.database() as url:
        opened = with_account(open_store(tmp_path / "data", url))
        yield opened
        opened.close()


def test_a_process_alone_speaks_for_itself_whatever_lies_in_its_store(tmp_path: Path) -> None:
    store = with_account(open_store(tmp_path))
    told(store, "j2")
    seen = picture(Desk(store), READER, OWN)
    assert [one.name for one in seen.reports] == ["gw:worker-1"]
    assert (seen.silent, seen.store_away, seen.oldest_s) == ((), False, 0.0)
    assert seen.reports[0].routes["a:u"].samples == 1
    store.close()


def test_all_that_told_lately_count_and_none_of_them_twice(shared: Store) -> None:
    for node, silent_s in (("j1", 0), ("j2", 4), ("j3", SILENT_S + 1), ("j4", FORGOTTEN_S + 1)):
        told(shared, node, silent_s=silent_s)
    seen = picture(Desk(shared), READER, OWN)
    assert [one.id for one in seen.reports] == ["j1", "j2"]
    assert 4 <= seen.oldest_s < SILENT_S
    assert seen.reports[0].routes["a:u"].state == "closed", "by itself, not by what it told"
    other = seen.reports[1].routes["a:u"]
    assert other.state == "resting"
    assert 570 < other.wait_s <= 595, "as long as it is now"
    assert 5 <= other.last_errors[0].age_s < 35
    assert [(one.id, one.name) for one in seen.silent] == [("j3", "gw:j3")]
    assert seen.silent[0].age_s > SILENT_S


def test_what_did_not_change_for_long_counts_while_it_is_said_to_be_so(shared: Store) -> None:
    told(shared, "j2", silent_s=400)
    with shared.write() as connection:
        assert still(connection, "j2")
    seen = picture(Desk(shared), READER, OWN)
    assert seen.oldest_s < SILENT_S
    assert 150 < seen.reports[1].routes["a:u"].wait_s < 200


def test_words_of_another_release_that_cannot_be_read_do_not_count(shared: Store) -> None:
    told(shared, "j2", '{"a:u": {"state": "asleep"}}')
    seen = picture(Desk(shared), READER, OWN)
    assert len(seen.reports) == 1
    assert [one.id for one in seen.silent] == ["j2"]


def test_processes_of_one_name_are_told_apart(shared: Store) -> None:
    for node in ("abcdefgh", "12345678", "j2"):
        told(shared, node)
    with shared.write() as connection:
        connection.execute(text("UPDATE route_report SET name = 'gw:data' WHERE node <> 'j2'"))
    seen = picture(Desk(shared), READER, OWN)
    assert [one.name for one in seen.reports] == [
        "gw:worker-1",
        "gw:data (123456)",
        "gw:data (abcdef)",
        "gw:j2",
    ]


def test_one_process_is_looked_at_by_its_id(shared: Store) -> None:
    told(shared, "j2")
    seen = picture(Desk(shared), ADMIN, OWN)
    assert [one.id for one in seen.of(None)] == ["j1", "j2"]
    assert [one.id for one in seen.of("j2")] == ["j2"]
    assert refusal(seen.of, "j3").status == 404


def test_without_the_store_the_asked_one_speaks_alone_and_says_so(
    shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: object) -> list[object]:
        raise StoreError("it is away")

    told(shared, "j2")
    monkeypatch.setattr(routes, "list_reports", away)
    seen = picture(Desk(shared), READER, OWN)
    assert ([one.id for one in seen.reports], seen.store_away) == (["j1"], True)


def test_members_are_not_told(shared: Store) -> None:
    assert refusal(picture, Desk(shared), MEMBER, OWN).status == 403
