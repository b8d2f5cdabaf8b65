from zurelay.meter.content import DAY_S, expires_at


def test_it_expires_whole_days_after_the_request() -> None:
    assert expires_at(1000.9, 2) == 1000 + 2 * DAY_S
