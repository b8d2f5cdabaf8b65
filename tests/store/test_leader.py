from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL, postgresql_server
from zurelay.store.engine import open_store
from zurelay.store.errors import StoreError
from zurelay.store.leader import Leader


@pytest.fixture
def nodes(tmp_path: Path, postgresql: PostgreSQL) -> Iterator[list[Leader]]:
    with (
        postgresql.database() as url,
        closing(open_store(tmp_path, url)) as one,
        closing(open_store(tmp_path, url)) as two,
    ):
        made = [Leader(one), Leader(two)]
        yield made
        for leader in made:
            leader.release()


def test_the_only_server_of_a_folder_leads(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        leader = Leader(store)
        assert leader.leads()
        leader.release()
        assert leader.leads()


def test_one_of_two_nodes_leads_until_it_lets_go(nodes: list[Leader]) -> None:
    one, two = nodes
    assert one.leads()
    assert not two.leads()
    assert one.leads()
    one.release()
    assert two.leads()
    assert not one.leads()


def test_a_node_whose_session_ended_leads_no_longer(
    nodes: list[Leader], postgresql: PostgreSQL
) -> None:
    one, two = nodes
    assert one.leads()
    assert one._session is not None
    pid = one._session.execute(text("SELECT pg_backend_pid()")).scalar_one()
    postgresql.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
    assert two.leads()
    assert not one.leads()


def test_a_database_that_is_away_is_told_and_the_lead_is_taken_again(tmp_path: Path) -> None:
    with postgresql_server() as server, closing(open_store(tmp_path, server.url())) as store:
        leader = Leader(store)
        assert leader.leads()
        server.stop()
        for _ in range(2):
            with pytest.raises(StoreError, match="PostgreSQL database postgres at"):
                leader.leads()
        server.start()
        assert leader.leads()
        leader.release()
