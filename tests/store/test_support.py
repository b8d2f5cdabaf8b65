from zurelay.store.engine import Store
from zurelay.store.support import (
    Message,
    Thread,
    add_message,
    add_thread,
    change_thread,
    count_open,
    count_unread,
    erase_support,
    find_thread,
    list_threads,
    messages_of,
)

THREAD = Thread("thr_1", "acct_1", "Slow", "req_1", 5, 5)
OTHER = Thread("thr_2", "acct_2", "Else", None, 9, 9)


def message(id_: str, at_ms: int, *, operator: bool, thread: str = "thr_1") -> Message:
    return Message(id_, thread, at_ms, "person:per_1", "Ann", operator, "Why?\nReally.")


def test_a_message_moves_its_thread_up_and_is_read_by_its_own_side(store: Store) -> None:
    with store.write() as connection:
        add_thread(connection, THREAD)
        add_thread(connection, OTHER)
        asked = message("msg_1", 6, operator=False)
        answered = message("msg_2", 10, operator=True)
        add_message(connection, asked)
        assert [one.id for one in list_threads(connection, None, None, 5)] == ["thr_2", "thr_1"]
        add_message(connection, answered)
        found = find_thread(connection, "thr_1")
        assert found is not None
        assert (found.asked_ms, found.members_read_ms) == (6, 6)
        assert (found.answered_ms, found.operators_read_ms, found.changed_ms) == (10, 10, 10)
        assert messages_of(connection, "thr_1") == [asked, answered]
        assert [one.id for one in list_threads(connection, None, None, 5)] == ["thr_1", "thr_2"]
        assert [one.id for one in list_threads(connection, None, (10, "thr_1"), 5)] == ["thr_2"]
        assert list_threads(connection, "acct_2", None, 5) == [OTHER]


def test_a_closed_thread_is_open_again_once_somebody_writes(store: Store) -> None:
    with store.write() as connection:
        add_thread(connection, THREAD)
        assert count_open(connection, "acct_1") == 1
        change_thread(connection, "thr_1", {"closed": 7})
        assert count_open(connection, "acct_1") == 0
        add_message(connection, message("msg_1", 8, operator=False))
        assert count_open(connection, "acct_1") == 1


def test_what_is_erased_of_an_account_leaves_the_others(store: Store) -> None:
    with store.write() as connection:
        for thread in (THREAD, OTHER):
            add_thread(connection, thread)
            add_message(connection, message(thread.id, 10, operator=False, thread=thread.id))
        erase_support(connection, "acct_1")
        assert find_thread(connection, "thr_1") is None
        assert messages_of(connection, "thr_1") == []
        assert len(messages_of(connection, "thr_2")) == 1


def test_each_side_has_its_own_count_of_threads_it_has_not_read(store: Store) -> None:
    with store.write() as connection:
        add_thread(connection, THREAD)
        add_thread(connection, OTHER)
        add_message(connection, message("msg_1", 6, operator=False))
        add_message(connection, message("msg_2", 9, operator=False, thread="thr_2"))
        assert count_unread(connection, None, 500) == 2
        assert count_unread(connection, None, 1) == 1
        assert count_unread(connection, "acct_1", 500) == 0
        add_message(connection, message("msg_3", 10, operator=True))
        assert count_unread(connection, None, 500) == 1
        assert count_unread(connection, "acct_1", 500) == 1
        assert count_unread(connection, "acct_2", 500) == 0
        change_thread(connection, "thr_1", {"members_read_ms": 10})
        assert count_unread(connection, "acct_1", 500) == 0
