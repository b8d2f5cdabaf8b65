"""What the console is given by the process it runs in. Knows no page."""

from collections.abc import Callable
from dataclasses import dataclass

from zurelay.console.throttle import Throttle
from zurelay.office.desk import Desk
from zurelay.plan.health import Health
from zurelay.plan.route import RoutingTable


@dataclass(frozen=True, slots=True)
class ConsoleParts:
    """Alive as long as the process.

    Attributes:
        desk: where people's use cases happen; its functions block and belong into threads.
        health, table: what is served now and how it stands; to be read on the event loop.
        redact: makes a provider's own words fit to be shown.
        now: the clock that `health` is told; `wall` is Unix time.
        brand: what the product calls itself.
        base_url: what clients set, without `/v1` and without a slash at the end.
        public_url: as configured; empty where it is not.
        support_email: where users are sent with questions; may be empty.
        request_id: names a call.
        address: who a request comes from, by its peer and `X-Forwarded-For`.
        example_model: the id of a model that is served.
    """

    desk: Desk
    health: Health
    table: Callable[[], RoutingTable]
    redact: Callable[[str], str]
    now: Callable[[], float]
    wall: Callable[[], float]
    brand: Callable[[], str]
    base_url: Callable[[], str]
    public_url: Callable[[], str]
    support_email: Callable[[], str]
    request_id: Callable[[], str]
    address: Callable[[str, bytes | None], str]
    example_model: Callable[[], str]
    throttle: Throttle
