"""How often somebody may try to sign in: counted by address and by who asks.

All nodes count together in the store; each counts in memory too, and goes by that while the store
does not answer. Who is refused is not counted further, so nobody makes more rows than the rules
allow. Knows no password.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, ip_address, ip_network
from threading import Lock
from typing import Final

import structlog

from zurelay.office.desk import Unavailable
from zurelay.office.failures import Failures

WINDOW_S: Final = 900.0
TRIES: Final = {"pair": 8, "email": 60, "ip": 30}
"""Failures in a window: by one place for one person, for one person, by one place."""

_MOST_KNOWN: Final = 20_000
_NETWORK: Final = 64
"""Bits of an IPv6 address that name a network."""

log = structlog.get_logger("zurelay.console")


class Throttle:
    """Counts failures; threads may share it. Its methods block.

    Args:
        now: seconds on any clock that only rises.
        shared: the failures of all nodes; without it each process counts by itself.
    """

    def __init__(self, now: Callable[[], float], shared: Failures | None = None) -> None:
        self._now = now
        self._shared = shared
        self._failures: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
        self._lock = Lock()
        self._alone_until = now() - 1

    def wait(self, email: str, ip: str, what: str = "") -> int:
        """Whole seconds until they may try again; 0 for now. Each `what` is counted apart."""
        names = _names(email, ip, what)
        if self._shared is None:
            return self._known_here(names)
        known = {f"{kind} {name}": kind for kind, name in names}
        try:
            ages = self._shared.ages(known, WINDOW_S)
        except Unavailable as error:
            log.warning("sign_ins_counted_here", error=str(error))
            return self._known_here(names)
        everywhere = _longest((known[name], found) for name, found in ages.items())
        # What could not be written is known only here.
        alone = self._now() <= self._alone_until
        return max(everywhere, self._known_here(names)) if alone else everywhere

    def failed(self, email: str, ip: str, what: str = "") -> None:
        """A try that failed, made by somebody who had not to wait."""
        now, names = self._now(), _names(email, ip, what)
        with self._lock:
            for one in names:
                times = self._failures.setdefault(one, [])
                times.append(now)
                del times[: -TRIES[one[0]]]
                self._failures.move_to_end(one)
            while len(self._failures) > _MOST_KNOWN:
                self._failures.popitem(last=False)
        self._told(lambda shared: shared.add([f"{kind} {name}" for kind, name in names]))

    def succeeded(self, email: str, ip: str) -> None:
        """A try that did not: what this place failed for this person is forgotten."""
        pair = _names(email, ip)[0]
        with self._lock:
            self._failures.pop(pair, None)
        self._told(lambda shared: shared.forget(f"{pair[0]} {pair[1]}"))

    # Our own.

    def _known_here(self, names: Iterable[tuple[str, str]]) -> int:
        now = self._now()
        with self._lock:
            known: Mapping[tuple[str, str], list[float]] = {
                one: [now - at for at in self._failures.get(one, ()) if at > now - WINDOW_S]
                for one in names
            }
        return _longest((kind, ages) for (kind, _), ages in known.items())

    def _told(self, what: Callable[[Failures], None]) -> None:
        if self._shared is None:
            return
        try:
            what(self._shared)
        except Unavailable as error:
            log.warning("sign_ins_counted_here", error=str(error))
            self._alone_until = self._now() + WINDOW_S


def _longest(found: Iterable[tuple[str, list[float]]]) -> int:
    """Whole seconds until none has too many failures; `found`: kind and ages, oldest first."""
    waits = [0.0]
    for kind, ages in found:
        if len(ages) >= TRIES[kind]:
            waits.append(WINDOW_S - ages[-TRIES[kind]])
    return int(-(-max(waits) // 1))


def _names(email: str, ip: str, what: str = "") -> tuple[tuple[str, str], ...]:
    email, ip = f"{what}{email.strip().lower()[:254]}", f"{what}{_place(ip)}"
    return ("pair", f"{email} {ip}"), ("email", email), ("ip", ip)


def _place(ip: str) -> str:
    """Where an address is; of IPv6 the network, as whoever has one has all addresses in it."""
    try:
        address = ip_address(ip)
    except ValueError:
        return ip
    if isinstance(address, IPv4Address):
        return ip
    mapped = address.ipv4_mapped
    return str(mapped or ip_network((address, _NETWORK), strict=False))
