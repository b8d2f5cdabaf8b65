from zurelay.store.engine import Store
from zurelay.store.sign_in_failures import (
    add_failure,
    delete_failures,
    failures_of,
    forget_failures,
)


def test_failures_are_counted_by_digest_and_forgotten_by_digest_or_age(store: Store) -> None:
    with store.write() as connection:
        add_failure(connection, {"a": "sif_1", "b": "sif_2"}, 100)
        add_failure(connection, {"a": "sif_3"}, 200)
        assert failures_of(connection, ["a", "b", "c"], 0) == {"a": [100, 200], "b": [100]}
        assert failures_of(connection, ["a", "b"], 100) == {"a": [200]}
        forget_failures(connection, ["b"])
        assert failures_of(connection, ["a", "b"], 0) == {"a": [100, 200]}
        delete_failures(connection, 200)
        assert failures_of(connection, ["a", "b"], 0) == {"a": [200]}
