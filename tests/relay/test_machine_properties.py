"""What holds in the relay whatever happens, in whatever order."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.relay.story import BUSY, DOWN, POLICY, REFUSED, TOO_LONG, limited
from zurelay.relay.machine import CandidateView, Machine, Timing
from zurelay.relay.signals import (
    REQUEST,
    Action,
    Arrived,
    Begin,
    Call,
    Clear,
    ClientGone,
    Drop,
    Ended,
    Failed,
    KeepAlive,
    Open,
    Probing,
    Rang,
    Refuse,
    Send,
    SendFault,
    Set,
    Settle,
    ShuttingDown,
    Signal,
    Skipped,
    Timer,
)

OF_REQUEST = (Timer.OPEN, Timer.QUIET, Timer.TOTAL, Timer.REST)
OF_ATTEMPT = (Timer.START, Timer.IDLE, Timer.RETRY, Timer.HEDGE)

numbers = st.integers(0, 5)
flags = st.booleans()
faults = st.sampled_from([DOWN, BUSY, REFUSED, TOO_LONG, POLICY, limited(1.0), limited(99.0)])
# Weighted towards what keeps a story going; endings come by themselves.
signals = st.one_of(
    st.builds(Arrived, numbers, st.sampled_from([b"", b"role", b"ping"]), alive=flags),
    st.builds(Arrived, numbers, st.sampled_from([b"", b"a", b"b"]), token=st.just(True)),
    st.builds(Arrived, numbers, st.sampled_from([b"", b"c"]), flags, flags, flags, flags),
    st.builds(Failed, numbers, faults, flags, flags),
    st.builds(Failed, numbers, st.sampled_from([BUSY, DOWN]), st.just(True)),
    st.builds(Skipped, numbers, st.sampled_from([None, 0.5, 2.0, 99.0])),
    st.builds(Probing, numbers, st.just(3.0)),
    st.builds(Rang, st.sampled_from(OF_REQUEST)),
    st.builds(Rang, st.sampled_from(OF_ATTEMPT), numbers),
    st.builds(Rang, st.sampled_from([Timer.RETRY, Timer.HEDGE]), numbers),
    st.builds(Rang, st.just(Timer.REST)),
)
endings = st.one_of(st.builds(Ended, numbers), st.just(ClientGone()), st.just(ShuttingDown()))
scripts = st.lists(st.one_of(signals, signals, signals, signals, endings), max_size=40)
views = st.lists(
    st.builds(
        CandidateView,
        st.sampled_from(["m", "n"]),
        listed=flags,
        high_effort=flags,
        hedge_after=st.sampled_from([None, 1.0]),
    ),
    max_size=4,
)


class Witness:
    """Follows a machine and notes what a runner would see; checks each step."""

    def __init__(self, machine: Machine, streaming: bool, timing: Timing) -> None:
        self.machine = machine
        self.streaming = streaming
        self.timing = timing
        self.log: list[Action] = []
        self.armed: set[tuple[Timer, int]] = set()
        self.live: dict[int, int] = {}  # attempt -> candidate
        self.asked: Counter[int] = Counter()
        self.calls = 0
        self.fed: dict[int, bytes] = {}
        self.sent = b""
        self.sender: int | None = None
        self.open = False
        self.spoken: set[int] = set()

    def feed(self, signal: Signal) -> None:
        was_over = self.machine.over
        if isinstance(signal, Rang):
            self.armed.discard((signal.timer, signal.attempt))
        known = getattr(signal, "attempt", REQUEST) in self.live
        if isinstance(signal, Arrived) and known:
            self.fed[signal.attempt] += signal.out
            if signal.token or signal.started or signal.finished:
                self.spoken.add(signal.attempt)
        skipped = isinstance(signal, Skipped) and known and signal.attempt not in self.spoken
        if isinstance(signal, Skipped) and skipped:
            self.asked[self.live[signal.attempt]] -= 1
            self.calls -= 1
        if skipped or isinstance(signal, Failed | Ended):
            self.live.pop(getattr(signal, "attempt", REQUEST), None)
        actions = self.machine.handle(signal)
        if was_over:
            assert actions == []
            return
        for place, action in enumerate(actions):
            self.see(action, last=place == len(actions) - 1)
        if not self.machine.over:
            self.check_nothing_hangs()

    def see(self, action: Action, last: bool) -> None:
        self.log.append(action)
        if isinstance(action, Set):
            assert action.seconds >= 0
            self.armed.add((action.timer, action.attempt))
        elif isinstance(action, Clear):
            self.armed.discard((action.timer, action.attempt))
        elif isinstance(action, Call):
            self.see_call(action)
            assert last
        elif isinstance(action, Drop):
            del self.live[action.attempt]
        elif isinstance(action, Settle):
            assert last
        elif isinstance(action, Refuse):
            assert not self.open
        else:
            self.see_write(action)

    def see_call(self, action: Call) -> None:
        assert self.sender is None
        assert action.attempt not in self.fed
        assert (Timer.START, action.attempt) in self.armed
        self.live[action.attempt] = action.candidate
        self.fed[action.attempt] = b""
        self.asked[action.candidate] += 1
        self.calls += 1
        assert self.asked[action.candidate] <= 2
        assert self.calls <= self.timing.attempts
        assert len(self.live) <= (2 if self.timing.hedge else 1)

    def see_write(self, action: Open | Send | KeepAlive | SendFault) -> None:
        assert self.streaming
        if isinstance(action, Open):
            assert not self.open
            self.open = True
            return
        assert self.open
        if isinstance(action, Send):
            assert action.out
            assert self.sender in (None, action.attempt)
            self.sender = action.attempt
            self.sent += action.out

    def check_nothing_hangs(self) -> None:
        """Something is always about to happen, and nothing fed to the sender is kept back."""
        armed = self.armed
        waiting = (Timer.REST, REQUEST) in armed or any(t is Timer.RETRY for t, _ in armed)
        assert self.live or waiting
        for number in self.live:
            assert (Timer.START, number) in armed or (Timer.IDLE, number) in armed
        assert (Timer.TOTAL, REQUEST) in armed
        if self.streaming:
            assert ((Timer.QUIET if self.open else Timer.OPEN), REQUEST) in armed
        if self.sender is not None:
            assert self.sent == self.fed[self.sender]
        if self.machine.steady:
            assert len(self.live) == 1


@settings(max_examples=1000, deadline=None)
@given(views, scripts, flags, flags, st.integers(1, 6))
def test_whatever_happens(
    candidates: list[CandidateView],
    script: list[Signal],
    streaming: bool,
    hedge: bool,
    attempts: int,
) -> None:
    timing = Timing(hedge=hedge, attempts=attempts)
    witness = Witness(Machine(timing, candidates, streaming), streaming, timing)
    for signal in [Begin(), *script, ClientGone(), Begin()]:
        witness.feed(signal)
    kinds = [type(action) for action in witness.log]
    assert kinds.count(Settle) == 1
    assert kinds[-1] is Settle
    assert kinds.count(Refuse) + kinds.count(SendFault) <= 1
    assert len(witness.log) < 20 * (len(script) + 3)


def run(script: list[Signal], streaming: bool, bypass: bool) -> tuple[bytes, list[Action]]:
    """What a caller gets, and what else is done; with the way past the machine or without."""
    machine = Machine(Timing(), [CandidateView("m")] * 2, streaming)
    sent = b""
    rest: list[Action] = []
    for signal in [Begin(), *script, ClientGone()]:
        if bypass and machine.steady and isinstance(signal, Arrived) and not signal.finished:
            if streaming and signal.attempt == 0:
                sent += signal.out
            continue
        for action in machine.handle(signal):
            if isinstance(action, Send):
                sent += action.out
            elif not isinstance(action, Set | Clear):
                rest.append(action)
    return sent, rest


of_one_attempt = st.lists(
    st.one_of(
        st.builds(Arrived, st.just(0), st.sampled_from([b"", b"a", b"bc"]), flags, flags),
        st.builds(Arrived, st.just(0), st.sampled_from([b"", b"a", b"bc"]), flags, flags),
        st.builds(Arrived, st.just(0), st.just(b"end"), finished=st.just(True)),
        st.builds(Failed, st.just(0), faults),
        st.builds(Rang, st.sampled_from([Timer.QUIET, Timer.OPEN])),
        st.just(Ended(0)),
    ),
    max_size=20,
)


@given(of_one_attempt, flags)
def test_the_way_past_the_machine_changes_nothing(script: list[Signal], streaming: bool) -> None:
    straight = run([Arrived(0, b"first", token=True), *script], streaming, bypass=True)
    assert straight == run([Arrived(0, b"first", token=True), *script], streaming, bypass=False)
