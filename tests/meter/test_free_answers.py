from zurelay.meter.free_answers import LEAST, SHARE, FreeAnswers

HOUR = 3600.0


def test_some_are_free_in_every_hour() -> None:
    free = FreeAnswers()
    for hour in range(1, 4):
        at = hour * HOUR
        taken = [free.take("a", at + minutes * 60) for minutes in range(0, 60, 10)]
        assert taken == [True] * LEAST + [False] * (6 - LEAST)


def test_each_account_has_its_own() -> None:
    free = FreeAnswers()
    for account in ("a", "b"):
        assert [free.take(account, HOUR) for _ in range(LEAST + 1)].count(True) == LEAST


def test_who_asks_much_has_a_share_of_it() -> None:
    free = FreeAnswers()
    for _ in range(10 * SHARE):
        free.asked("a", HOUR)
    assert [free.take("a", HOUR) for _ in range(20)].count(True) == 10
    assert [free.take("a", 2 * HOUR) for _ in range(20)].count(True) == LEAST
