"""What only PostgreSQL does; everything else is in the tests that run on both databases."""

from pathlib import Path

import pytest
from sqlalchemy import text

from tests.servers import PostgreSQL, postgresql_server
from zurelay.store.engine import open_store
from zurelay.store.errors import StoreError
from zurelay.store.postgresql import postgresql_engine

SECRET = "hunter2"


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    return postgresql.url()


@pytest.mark.parametrize(
    "address",
    [
        f"mysql://user:{SECRET}@host/db",
        f"postgresql://user:{SECRET}@[host/db",
        f"postgresql://user:{SECRET}@host/db?unknown=1",
        f"postgresql://user:{SECRET}%@host/db",
        f"host=localhost password={SECRET}",
    ],
)
def test_what_is_no_address_is_told_without_the_password(tmp_path: Path, address: str) -> None:
    with pytest.raises(StoreError, match="no address of a database") as refused:
        open_store(tmp_path, address)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is refused.value.__context__ is None  # no traceback tells it


def test_a_database_that_does_not_answer_is_told_in_one_line(tmp_path: Path) -> None:
    address = f"postgresql://user:{SECRET}@/db?host={tmp_path}"
    with pytest.raises(StoreError, match=f"PostgreSQL database db at {tmp_path}") as refused:
        open_store(tmp_path, address)
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_database_that_is_not_there_is_told(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with pytest.raises(StoreError, match='database "missing" does not exist'):
        open_store(tmp_path, postgresql.url("missing"))


def test_both_schemes_are_understood(tmp_path: Path, postgresql: PostgreSQL) -> None:
    with postgresql.database() as url:
        open_store(tmp_path, url.replace("postgresql://", "postgres://")).close()


def test_a_session_waits_for_nothing_for_ever_and_says_who_it_is(url: str) -> None:
    engine, name = postgresql_engine(url)
    with engine.connect() as connection:
        asked = {
            setting: connection.execute(text(f"SHOW {setting}")).scalar_one()
            for setting in ("lock_timeout", "statement_timeout", "application_name", "timezone")
        }
        assert connection.dialect.driver == "psycopg"
    engine.dispose()
    assert asked == {
        "lock_timeout": "10s",
        "statement_timeout": "1min",
        "application_name": "zurelay",
        "timezone": "UTC",
    }
    assert name.startswith("PostgreSQL database postgres at ")


def test_the_address_wins_over_the_settings_of_this_module(url: str) -> None:
    engine, _ = postgresql_engine(f"{url}&application_name=other")
    with engine.connect() as connection:
        assert connection.execute(text("SHOW application_name")).scalar_one() == "other"
    engine.dispose()


def test_a_database_that_forgets_what_it_confirmed_is_refused(
    tmp_path: Path, postgresql: PostgreSQL
) -> None:
    with postgresql.database() as url:
        name = url.split("/")[3].split("?")[0]
        postgresql.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        with pytest.raises(StoreError, match=r"synchronous_commit is off.*set it to on"):
            open_store(tmp_path, url)


def test_a_store_works_again_after_its_server_was_away(tmp_path: Path) -> None:
    with postgresql_server() as server:
        store = open_store(tmp_path, server.url())
        server.stop()
        with pytest.raises(StoreError), store.write() as connection:
            connection.execute(text("SELECT 1"))
        server.start()
        with store.write() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1
        store.close()
