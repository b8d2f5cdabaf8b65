from collections.abc import Callable

from tests.store.rows import a_record
from zurelay.api.refusals import EACH, Refusals
from zurelay.meter.record import RequestRecord


class Second:
    """A clock's one timer, and the log."""

    def __init__(self) -> None:
        self.timers: list[Callable[[], None]] = []
        self.written: list[RequestRecord] = []
        self.refusals = Refusals(lambda _, call: self.timers.append(call), self.written.append)

    def refuse(self, times: int, key: str = "key_1", error: str = "model_not_found") -> list[bool]:
        return [
            self.refusals.fold(a_record(status="error", key=key, error=error)) for _ in range(times)
        ]


def test_the_first_of_a_second_have_entries_of_their_own_the_others_share_one() -> None:
    second = Second()
    assert second.refuse(EACH) == [False] * EACH
    assert second.refuse(7) == [True] * 7
    assert second.written == []
    (end,) = second.timers
    end()
    assert [record.count for record in second.written] == [7]


def test_keys_and_reasons_are_counted_apart() -> None:
    second = Second()
    second.refuse(EACH + 2)
    assert second.refuse(1, key="key_2") == [False]
    second.refuse(3, error="invalid_json")
    second.refusals.flush()
    assert [(r.key, r.error, r.count) for r in second.written] == [
        ("key_1", "model_not_found", 2),
        ("key_1", "invalid_json", 3),
    ]


def test_the_next_second_begins_anew() -> None:
    second = Second()
    second.refuse(EACH + 1)
    second.timers.pop()()
    assert second.refuse(EACH + 1) == [False] * EACH + [True]
    assert len(second.timers) == 1
    second.refusals.flush()
    assert [record.count for record in second.written] == [1, 1]
