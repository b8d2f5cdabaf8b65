import pytest

from zurelay.store import schema
from zurelay.store.engine import Store
from zurelay.store.upsert import RowsInsert, adding, upsert

TABLE = schema.usage_provider_hour
SUMS = [column.name for column in TABLE.columns if not column.primary_key]


def row(hour: int, provider: str, *counts: int) -> tuple[object, ...]:
    return (hour, provider, 0, *counts, *([0] * (len(SUMS) - len(counts))))


def test_rows_that_are_there_get_their_sums_added(store: Store) -> None:
    add = RowsInsert(TABLE, adding(TABLE, SUMS))
    with store.write() as connection:
        add.run(connection, [row(1, "a", 1, 2), row(1, "b", 2**60)])
        add.run(connection, [row(1, "a", 10, 20), row(2, "a", 5)])
        assert add.run(connection, []) is None
        found = connection.execute(TABLE.select().order_by(TABLE.c.hour, TABLE.c.provider)).all()
    assert [(*one[:2], *one[3:5]) for one in found] == [
        (1, "a", 11, 22),
        (1, "b", 2**60, 0),
        (2, "a", 5, 0),
    ]


@pytest.mark.parametrize("note", ["", "é 'quoted' {braces}, \\ %s ?", "NULL", '"'])
def test_every_kind_of_column_arrives_as_it_was_given(store: Store, note: str) -> None:
    table = schema.account
    insert = RowsInsert(table, "(id) DO NOTHING")
    values = {"id": "acct_x", "name": note or "x", "created": 2**40, "prepaid": True, "rpm": 7}
    with store.write() as connection:
        insert.run(connection, [tuple(values.get(column.name) for column in table.columns)])
        found = connection.execute(table.select().where(table.c.id == "acct_x")).mappings().one()
    assert {name: found[name] for name in values} == values
    assert found["budget"] is None


def test_one_row_can_say_what_to_do_on_a_conflict(store: Store) -> None:
    with store.write() as connection:
        for _ in range(2):
            statement = upsert(connection, schema.meta).values(name="n", value=1)
            connection.execute(statement.on_conflict_do_nothing())
        found = connection.execute(schema.meta.select().where(schema.meta.c.name == "n")).all()
    assert found == [("n", 1)]
