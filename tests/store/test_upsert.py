import pytest

from zurelay.store import schema
from zurelay.store.engine import Store
from zurelay.store.upsert import RowsInsert, RowsInserts, adding, upsert

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


def test_several_tables_are_written_together_in_the_order_of_their_rows(store: Store) -> None:
    columns = [column.name for column in schema.meta.columns]
    assert columns == ["name", "value"]
    both = RowsInserts(
        RowsInsert(TABLE, adding(TABLE, SUMS)),
        RowsInsert(schema.meta, "(name) DO UPDATE SET value = excluded.value"),
    )
    with store.write() as connection:
        both.run(connection, [[row(1, "a", 1)], [("x", 1), ("y", 2)]])
        both.run(connection, [[row(1, "a", 2), row(2, "b", 5)], []])
        found = connection.execute(TABLE.select().order_by(TABLE.c.hour)).all()
        named = schema.meta.select().where(schema.meta.c.name.in_(["x", "y"]))
        assert sorted(map(tuple, connection.execute(named))) == [("x", 1), ("y", 2)]
    assert [(*one[:2], one[3]) for one in found] == [(1, "a", 3), (2, "b", 5)]
