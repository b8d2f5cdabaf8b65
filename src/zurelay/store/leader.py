"""One node among all that share a store: for work that must be done once, not by each.

Every method blocks; call them from one thread at a time.
"""

from contextlib import suppress

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from zurelay.store.engine import Store, told

_LOCK = 0x7A75_0003


class Leader:
    """Whether this node leads. With SQLite, which one server has to itself, it always does.

    In PostgreSQL it is an advisory lock of a session: it ends with the session, so with the process
    or with its link to the database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._session: Connection | None = None

    def leads(self) -> bool:
        """Whether this node leads now; it takes the lead if nobody has it.

        Raises:
            StoreError: the database does not answer; another node may lead from now on.
        """
        if self._store.kind == "sqlite":
            return True
        if self._session is not None:
            try:
                self._session.execute(text("SELECT 1"))
            except DBAPIError:
                self._drop()
            else:
                return True
        session = self._store.session()
        try:
            with told(self._store.name):
                got = session.execute(text(f"SELECT pg_try_advisory_lock({_LOCK})")).scalar_one()
        except BaseException:
            session.close()
            raise
        if not got:
            session.close()
            return False
        self._session = session
        return True

    def release(self) -> None:
        """Let another node lead."""
        if self._session is not None:
            with suppress(DBAPIError):
                # The lock's end counts at once; that of a session is noticed some time later.
                self._session.execute(text(f"SELECT pg_advisory_unlock({_LOCK})"))
        self._drop()

    def _drop(self) -> None:
        """Give the session up, and with it the lock."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(DBAPIError):
                session.invalidate()
            session.close()
