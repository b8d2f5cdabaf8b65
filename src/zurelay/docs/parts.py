"""What the guide's site asks the gateway for. Knows no page."""

from collections.abc import Callable
from dataclasses import dataclass

from zurelay.plan.route import RoutingTable


@dataclass(frozen=True, slots=True)
class Status:
    """What the page at `/` tells."""

    version: str
    draining: bool
    models: int
    providers: int


@dataclass(frozen=True, slots=True)
class DocsParts:
    """The gateway, as far as the site needs it; all may change at any time.

    Attributes:
        table: what is served now.
        brand, wire: as configured.
        base_url: where clients reach it, without `/v1`.
        public_url: as configured; empty where it is not.
        example_model: one that is served.
        status: how it stands.
    """

    table: Callable[[], RoutingTable]
    brand: Callable[[], str]
    wire: Callable[[], str]
    base_url: Callable[[], str]
    public_url: Callable[[], str]
    example_model: Callable[[], str]
    status: Callable[[], Status]
