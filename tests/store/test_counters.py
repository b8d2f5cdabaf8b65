from zurelay.store.counters import raise_counter, read_counter, set_counter
from zurelay.store.engine import Store


def test_a_counter_begins_at_nothing_and_rises_by_one(store: Store) -> None:
    with store.write() as connection:
        assert read_counter(connection, "new") == 0
        raise_counter(connection, "new")
        raise_counter(connection, "new")
        assert read_counter(connection, "new") == 2
        assert read_counter(connection, "other") == 0


def test_a_mark_never_falls(store: Store) -> None:
    with store.write() as connection:
        for value in (5, 3, 7):
            set_counter(connection, "mark", value)
        assert read_counter(connection, "mark") == 7
        set_counter(connection, "mark", 6)
        assert read_counter(connection, "mark") == 7
