from dataclasses import replace

from zurelay.store.counters import read_counter
from zurelay.store.engine import Store
from zurelay.store.stops import STOPS, StopRow, add_stop, find_stop, list_stops, remove_stop

ROW = StopRow("model", "gpt-6", 5, "cli:a", "dear")


def test_a_stop_is_written_once_and_servers_hear_of_it(store: Store) -> None:
    other = replace(ROW, kind="provider", name="openai")
    with store.write() as connection:
        assert add_stop(connection, ROW)
        assert not add_stop(connection, replace(ROW, note="again"))
        assert add_stop(connection, other)
        assert read_counter(connection, STOPS) == 2
        assert list_stops(connection) == [ROW, other]
        assert find_stop(connection, "model", "gpt-6") == ROW
        assert find_stop(connection, "provider", "gpt-6") is None
        assert remove_stop(connection, "model", "gpt-6")
        assert not remove_stop(connection, "model", "gpt-6")
        assert read_counter(connection, STOPS) == 3
        assert list_stops(connection) == [other]
