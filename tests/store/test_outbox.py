import threading

from zurelay.store.engine import Store
from zurelay.store.outbox import (
    Failed,
    Waiting,
    add_waiting,
    claim,
    count_waiting,
    due_now,
    erase_outbox,
    failed_since,
    finish,
    forget_before,
    of_account,
    put_back,
    release,
    sent_to,
)

BOTH = ["mail", "webhook"]


def waiting(
    number: int, due_ms: int = 10, kind: str = "mail", account: str | None = None
) -> Waiting:
    target = f"{number}@b.nl" if kind == "mail" else "https://b.nl"
    return Waiting(f"out_{number}", number, kind, target, account, "s", "b", 0, due_ms, secret="x")


def all_rows(store: Store) -> dict[str, Waiting]:
    with store.read() as connection:
        everybody = [f"{number}@b.nl" for number in range(30)]
        return {one.id: one for one in of_account(connection, "acct_1", everybody, 100)}


def test_what_is_due_is_claimed_once_and_its_try_is_counted(store: Store) -> None:
    with store.write() as connection:
        add_waiting(connection, [])
        add_waiting(
            connection, [waiting(3, 9), waiting(1), waiting(2, 11), waiting(4, 10, "webhook")]
        )
    with store.write() as connection:
        assert not due_now(connection, 8, BOTH)
        assert not due_now(connection, 9, ["webhook"])
        assert due_now(connection, 9, BOTH)
        assert [one.id for one in claim(connection, 10, 99, ["webhook"], 5)] == ["out_4"]
        found = claim(connection, 10, 99, BOTH, 1)
        assert [(one.id, one.tries, one.due_ms, one.body) for one in found] == [
            ("out_3", 1, 99, "b")
        ]
        assert [one.id for one in claim(connection, 10, 99, BOTH, 5)] == ["out_1"]
        assert claim(connection, 98, 150, BOTH, 5)[0].id == "out_2"
        again = claim(connection, 99, 150, BOTH, 5)
        assert {(one.id, one.tries) for one in again} == {("out_1", 2), ("out_3", 2), ("out_4", 2)}
        assert count_waiting(connection) == 4


def test_two_that_claim_at_once_get_different_rows(store: Store) -> None:
    with store.write() as connection:
        add_waiting(connection, [waiting(number) for number in range(20)])
    got: list[list[str]] = []

    def take() -> None:
        while True:
            with store.write() as connection:
                found = [one.id for one in claim(connection, 10, 99, BOTH, 3)]
            if not found:
                return
            got.append(found)

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [id_ for found in got for id_ in found]
    assert sorted(together) == sorted(f"out_{number}" for number in range(20))


def test_a_row_that_is_over_keeps_neither_body_nor_secret(store: Store) -> None:
    with store.write() as connection:
        add_waiting(connection, [waiting(number) for number in (1, 2, 3, 4)])
        claim(connection, 10, 99, BOTH, 3)
        finish(connection, "out_1", 20, None)
        finish(connection, "out_2", None, "550")
        put_back(connection, "out_3", 50, "busy")
        claim(connection, 10, 99, BOTH, 1)
        release(connection, "out_4", 30)
        put_back(connection, "out_1", 60, "late")
        release(connection, "out_2", 60)
    found = all_rows(store)
    shown = {id_: (one.tries, one.due_ms, one.sent_ms, one.problem) for id_, one in found.items()}
    assert shown == {
        "out_1": (1, None, 20, None),
        "out_2": (1, None, None, "550"),
        "out_3": (1, 50, None, "busy"),
        "out_4": (0, 30, None, None),
    }
    assert [(one.body, one.secret) for one in found.values()] == [
        ("", None),
        ("", None),
        ("b", "x"),
        ("b", "x"),
    ]


def test_what_was_given_up_is_told_newest_first(store: Store) -> None:
    with store.write() as connection:
        add_waiting(connection, [waiting(number) for number in (1, 2, 3, 4)])
        for id_, problem in (("out_1", "550"), ("out_2", None), ("out_3", "554")):
            finish(connection, id_, None, problem)
        finish(connection, "out_4", 5, None)
        assert failed_since(connection, 0, 2) == (
            3,
            [Failed("mail", "3@b.nl", None, 3, "554"), Failed("mail", "2@b.nl", None, 2, "")],
        )
        assert failed_since(connection, 3, 2)[0] == 1


def test_old_rows_go_whatever_became_of_them(store: Store) -> None:
    with store.write() as connection:
        add_waiting(connection, [waiting(number) for number in (1, 2, 3)])
        finish(connection, "out_1", 5, None)
        assert forget_before(connection, 3) == 2
    assert list(all_rows(store)) == ["out_3"]


def test_what_went_to_an_account_or_its_people_is_found_and_erased(store: Store) -> None:
    with store.write() as connection:
        rows = [
            waiting(1, account="acct_1"),
            waiting(2),
            waiting(3, account="acct_2"),
            waiting(4, kind="webhook", account="acct_1"),
            waiting(5, kind="webhook", account="acct_2"),
        ]
        add_waiting(connection, rows)
        mine = [one.id for one in of_account(connection, "acct_1", ["2@b.nl"], 10)]
        assert mine == ["out_1", "out_2", "out_4"]
        assert len(of_account(connection, "acct_1", ["2@b.nl"], 2)) == 2
        erase_outbox(connection, "acct_1", ["2@b.nl"])
        left = claim(connection, 10, 99, BOTH, 10)
        assert [one.id for one in left] == ["out_3", "out_5"]


def test_what_went_to_the_addresses_of_an_account_is_found_newest_first(store: Store) -> None:
    with store.write() as connection:
        rows = [
            waiting(1, account="acct_1"),
            waiting(2, account="acct_1"),
            waiting(3, account="acct_2"),
            waiting(4, kind="webhook", account="acct_1"),
        ]
        add_waiting(connection, rows)
        to = ["1@b.nl", "3@b.nl", "https://b.nl"]
        assert [one.id for one in sent_to(connection, "acct_1", to, 9)] == ["out_4", "out_1"]
        assert [one.id for one in sent_to(connection, "acct_1", to, 1)] == ["out_4"]
