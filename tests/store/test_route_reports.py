from sqlalchemy import Connection, text

from zurelay.store.engine import Store
from zurelay.store.route_reports import (
    FORGOTTEN_S,
    forget_silent,
    list_reports,
    still,
    take_back,
    tell,
)


def older(connection: Connection, node: str, seconds: float) -> None:
    connection.execute(
        text(
            "UPDATE route_report SET told_ms = told_ms - :ms, seen_ms = seen_ms - :ms"
            " WHERE node = :node"
        ),
        {"ms": int(seconds * 1000), "node": node},
    )


def test_each_process_has_one_word_which_the_next_one_replaces(store: Store) -> None:
    with store.write() as connection:
        tell(connection, "b", "gw-2", "{}")
        tell(connection, "a", "gw-1", '{"p:m":{}}')
        tell(connection, "b", "gw-2b", '{"x":1}')
        found = list_reports(connection)
    assert [(one.node, one.name, one.routes) for one in found] == [
        ("a", "gw-1", '{"p:m":{}}'),
        ("b", "gw-2b", '{"x":1}'),
    ]
    assert all(0 <= one.told_s < 60 and 0 <= one.silent_s < 60 for one in found)


def test_a_word_that_is_still_so_keeps_its_time_and_is_not_silent(store: Store) -> None:
    with store.write() as connection:
        tell(connection, "a", "gw", "{}")
        older(connection, "a", 1000)
        (found,) = list_reports(connection)
        assert found.told_s >= 1000
        assert found.silent_s >= 1000
        assert still(connection, "a")
        (found,) = list_reports(connection)
        assert found.told_s >= 1000
        assert found.silent_s < 60


def test_who_has_no_word_cannot_say_that_it_is_still_so(store: Store) -> None:
    with store.write() as connection:
        tell(connection, "a", "gw", "{}")
        assert not still(connection, "b")
        take_back(connection, "a")
        take_back(connection, "a")
        assert not still(connection, "a")
        assert list_reports(connection) == []


def test_who_is_silent_for_long_is_forgotten(store: Store) -> None:
    with store.write() as connection:
        for node, seconds in (("gone", FORGOTTEN_S + 1), ("quiet", FORGOTTEN_S - 100)):
            tell(connection, node, node, "{}")
            older(connection, node, seconds)
        forget_silent(connection)
        assert [one.node for one in list_reports(connection)] == ["quiet"]


def test_the_longest_name_of_a_machine_fits(store: Store) -> None:
    with store.write() as connection:
        tell(connection, "a", "é" * 300, "{}")
        assert [one.name for one in list_reports(connection)] == ["é" * 200]
