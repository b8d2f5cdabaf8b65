import asyncio
from collections.abc import Callable
from typing import cast

from tests.sandbox.playing import JumpingLoop
from zurelay.telemetry.looplag import INTERVAL, LoopLag, Timers


class Lagging(JumpingLoop):
    """Rings as late as it is told to."""

    lag = 0.0

    def call_at(self, when: float, callback: Callable[[], None], /) -> asyncio.TimerHandle:
        return cast("asyncio.TimerHandle", super().call_at(when + self.lag, callback))


def test_it_reports_how_late_its_timer_rang() -> None:
    loop = Lagging()
    heard: list[float] = []
    lag = LoopLag(loop, heard.append)
    lag.start()
    loop.lag = 0.25
    loop.run(INTERVAL)
    loop.run(INTERVAL + 0.25)
    assert heard == [0.0, 0.25]


def test_it_goes_on_until_it_is_stopped() -> None:
    loop: Timers = Lagging()
    assert isinstance(loop, Lagging)
    heard: list[float] = []
    lag = LoopLag(loop, heard.append)
    lag.start()
    loop.run(5 * INTERVAL)
    assert len(heard) == 5
    lag.stop()
    lag.stop()
    loop.run(5 * INTERVAL)
    assert len(heard) == 5
    assert loop.idle
