"""Bringing a database to this release's tables.

Alembic is imported only when there is something to do, so that commands start fast.
"""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from zurelay.store.errors import StoreError

HEAD = "0004"
"""The newest revision in `migrations/versions`; a test holds both together."""

_SCRIPTS = Path(__file__).parent / "migrations"


def migrate(engine: Engine) -> None:
    """Upgrade to `HEAD` in one transaction; at once when it is there already.

    Raises:
        StoreError: its revision is unknown to this release.
    """
    with engine.connect() as connection:
        if revision(connection) == HEAD:
            return
    writer = engine.execution_options(zurelay_writes=True)
    with writer.begin() as connection:
        # Another process may have done it while this one waited for the lock.
        found = revision(connection)
        if found != HEAD:
            _upgrade(connection, found)


def revision(connection: Connection) -> str | None:
    """The revision the database is at; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _upgrade(connection: Connection, found: str | None) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreError(
            f"the database is at revision {found}, which a newer release made; upgrade Zurelay"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
