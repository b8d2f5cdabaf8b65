import pytest
from sqlalchemy import select

from zurelay.store import schema
from zurelay.store.audit import AuditRow, add_audit
from zurelay.store.engine import Store
from zurelay.store.paging import Mark, newest_first, oldest_first

ROWS = [(1, "a"), (1, "b"), (1, "c"), (2, "a2"), (3, "b3")]


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("order", [newest_first, oldest_first])
def test_pages_hold_every_row_once_though_times_repeat(
    store: Store, order: object, size: int
) -> None:
    with store.write() as connection:
        for at, id_ in ROWS:
            add_audit(connection, AuditRow(id_, at, "x", "y", "z", None, "{}"))
    table = schema.audit
    seen: list[Mark] = []
    after: Mark | None = None
    with store.read() as connection:
        while True:
            query = order(select(table.c.at_ms, table.c.id), table.c.at_ms, table.c.id, after)  # type: ignore[operator]
            page = [(row[0], row[1]) for row in connection.execute(query.limit(size))]
            if not page:
                break
            seen += page
            after = page[-1]
    assert seen == sorted(ROWS, reverse=order is newest_first)
