from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, inspect

from zurelay.store import migrate


def test_revisions_run_in_the_transaction_they_are_given_and_end_with_it(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
    config = Config()
    config.set_main_option("script_location", str(migrate._SCRIPTS))
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        assert migrate.revision(connection) == migrate.HEAD
        connection.exec_driver_sql("ROLLBACK")
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []
    engine.dispose()
