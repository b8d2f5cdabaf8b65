import pytest

from zurelay.testing import ManualClock


def test_time_moves_only_when_told_to() -> None:
    clock = ManualClock(10.0)
    assert clock.now() == clock() == 10.0
    assert clock.advance(2.5) == 12.5
    assert clock.now() == 12.5


def test_time_never_goes_back() -> None:
    with pytest.raises(ValueError):
        ManualClock().advance(-1)
